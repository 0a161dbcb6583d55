# The image of a worker. Postgres and Redis are other containers (docker-compose.yml). The embedded Postgres and the
# pinned Node are optional dependencies and left out here: the base image has Node.
FROM node:26-slim@sha256:c0753125a3789977aefe869cbebccf70e3cfd7ea84ca48547458f02e4f1d7146 AS dependencies
WORKDIR /ferry
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:26-slim@sha256:c0753125a3789977aefe869cbebccf70e3cfd7ea84ca48547458f02e4f1d7146
ENV NODE_ENV=production FERRY_DATA_DIR=/tmp
WORKDIR /ferry
COPY --from=dependencies /ferry/node_modules ./node_modules
COPY package.json ./
COPY drizzle ./drizzle
COPY jobs ./jobs
COPY src ./src
USER node
# A worker touches this file three times a minute, as long as Postgres answers and its work goes on.
HEALTHCHECK --interval=20s --timeout=3s --start-period=60s --start-interval=2s \
  CMD test -n "$(find "$FERRY_DATA_DIR/alive" -mmin -2)"
# Node itself, not npm: a signal must reach the worker, which then drains. One flag keeps SIGUSR1 from opening a debugger,
# the other saves memory.
CMD ["node", "--disable-sigusr1", "--max-semi-space-size=2", "src/cli/ferry.ts", "worker"]
