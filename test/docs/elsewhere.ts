/**
 * The commands of the pages that test/docs/every-command.test.ts does not run as they stand, and why. In their place it
 * runs `instead`, in Ferry's directory `$FERRY`; `$@` are the words after the program.
 */
export const ELSEWHERE: Readonly<Record<string, { readonly why: string; readonly instead?: string }>> = {
  'npm ci': {
    why: 'it replaces the packages from which the tests run; .ci/run begins with it',
    instead: `grep -q "^  step 'npm ci' npm ci" "$FERRY/.ci/run"`,
  },
  'npm test': {
    why: 'a test cannot run all tests; .ci/run does, with those of npm run test:all',
    instead: `grep -q 'run_tests embedded' "$FERRY/.ci/run"`,
  },
  'npm run check': {
    why: 'it is types, lint, rooms and tests; .ci/run runs each',
    instead: `grep -q '^  check types lint rooms$' "$FERRY/.ci/run"`,
  },
  'npm run rooms': { why: '.ci/run runs it', instead: `grep -q '^  check .* rooms$' "$FERRY/.ci/run"` },
  '.ci/run': {
    why: 'it runs this test; the workflow of the hosted CI runs it, which test/tooling.test.ts reads',
    instead: 'bash -n "$FERRY/.ci/run"',
  },
  'npm run test:all -- test/imports/staging': {
    why: 'half a minute of tests that are run anyway; here they are only found',
    instead: '"$FERRY/node_modules/.bin/vitest" list --filesOnly "$4" | grep -q test/imports/staging/',
  },
  "sed -i 's#https://ferry.example.com/docs#https://git.your-company.net/ferry/docs#' ferry.rules.yml": {
    why: 'the file is where your Prometheus reads it; here it is that of integrations/',
    instead: `! sed "$3" "$FERRY/integrations/prometheus/ferry.rules.yml" | grep -q example.com`,
  },
  'ferry embedded upgrade': {
    why: 'the reader has a Postgres of their own, which it refuses; here it has an embedded one, of the right version',
    instead: `export DATABASE_URL= FERRY_DATA_DIR="$HOME/embedded"; "$FERRY/bin/ferry" migrate && "$FERRY/bin/ferry" "$@"`,
  },
  'ferry notify test [NAME]': { why: 'it needs a receiver; test/cli/notify.test.ts has one' },
  'npm run demo': { why: 'test/flows/demo.test.ts runs it' },
  'ferry demo': { why: 'test/flows/demo.test.ts runs it' },
  'npm run screenshots': {
    why: 'it drives a browser for a minute, and overwrites docs/images; here the pictures that it writes must be there',
    instead: `grep -o "name: '[a-z-]*'" "$FERRY/docs/screenshots.ts" | cut -d"'" -f2 | while read name; do
test -f "$FERRY/docs/images/$name.png" || exit 1; done`,
  },
  'npm run mutate -- throttle': {
    why: 'it runs tests for minutes; here there must be such mutants',
    instead: `grep -q '^  [a-z-]*: ' "$FERRY/test/mutants/$4.txt"`,
  },
  'npm run mutate -- --sample 50': {
    why: 'it runs tests for an hour; here it must find two mutants',
    instead: `npm --prefix "$FERRY" run --silent mutate -- --show --sample 2 | grep -q '^1/2$'`,
  },
  'npm run bench -- throttle': {
    why: 'it measures for a minute; here there must be such a bench',
    instead: 'test -f "$FERRY/bench/$4.ts"',
  },
  'npm run bench -- verify': {
    why: 'it measures millions of rows for minutes; here there must be such a bench',
    instead: 'test -f "$FERRY/bench/$4.ts"',
  },
  'npm run bench -- scale-out': {
    why: 'it measures for two minutes; here there must be such a bench',
    instead: 'test -f "$FERRY/bench/$4.ts"',
  },
  'npm run bench -- --long import-large import-history': {
    why: 'it measures for half an hour; here there must be such benches',
    instead: 'shift 4; for name; do test -f "$FERRY/bench/$name.ts"; done',
  },
  'npm pack': { why: 'test/flows/package.test.ts does so in a clone of its own' },
  'npm install --global ./ferry-*.tgz': {
    why: 'test/flows/package.test.ts does so, below a prefix of its own',
  },
  'docker compose up -d --build --scale worker=4': {
    why: 'there is no Docker here; test/compose.test.ts checks the files. What they need must have been made',
    instead:
      'test -n "$FERRY_BASE_URL" && test -s secrets/postgres_password && test "$(cat secrets/app_key)" = "$APP_KEY"',
  },
  'docker compose exec worker ferry runs list': {
    why: "there is no Docker here; the command of the container is run in Ferry's directory",
    instead: 'cd "$FERRY"; PATH="node_modules/.bin:$PATH"; shift 3; "$@"',
  },
  'docker compose --profile grafana up -d': {
    why: 'there is no Docker here; test/compose.test.ts and test/integrations/grafana.test.ts check the files',
    instead: 'test -s secrets/reader_password && test -s secrets/grafana_password',
  },
  'kubectl apply -f integrations/kubernetes/namespace.yaml': {
    why: 'there is no cluster here; the file must be there',
    instead: 'test -f "$FERRY/$3"',
  },
  'kubectl apply -f ferry-secrets.yaml': {
    why: 'there is no cluster here; the example from which the file is made must be there',
    instead: 'test -f "$FERRY/integrations/kubernetes/secret.example.yaml"',
  },
  'kubectl delete job ferry-migrate --namespace ferry --ignore-not-found': {
    why: 'there is no cluster here; the manifests must have this job',
    instead: 'grep -q "^  name: $3$" "$FERRY/integrations/kubernetes/migrate.yaml"',
  },
  'kubectl apply -k integrations/kubernetes': {
    why: 'there is no cluster here; test/integrations/kubernetes.test.ts checks the manifests',
    instead: 'test -f "$FERRY/$3/kustomization.yaml"',
  },
  'systemctl enable --now ferry-worker': {
    why: 'no systemd runs here; test/integrations/systemd.test.ts checks the unit',
    instead: 'test -f "$FERRY/integrations/systemd/$3.service"',
  },
}
