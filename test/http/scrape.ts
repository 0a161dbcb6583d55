/** A scrape, read as Prometheus reads it. */
export type Scrape = {
  readonly families: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
  /** The value of the only sample with this name and these labels; undefined if there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
}

type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const SAMPLE = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g

/** Fails at a line that is neither a comment nor a sample. */
export function readScrape(text: string): Scrape {
  const families = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n').filter(Boolean)) {
    const [, family, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (family && type) families.set(family, type)
    if (line.startsWith('#')) continue
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
    if (!name) throw new Error(`not a sample: ${line}`)
    samples.push({ name, labels: Object.fromEntries(labelsIn(labels)), value: Number(value) })
  }
  return {
    families,
    samples,
    value(name, labels = {}) {
      const wanted = Object.entries(labels)
      const found = samples.filter(
        sample => sample.name === name && wanted.every(([label, text]) => sample.labels[label] === text),
      )
      if (found.length > 1) throw new Error(`${found.length} samples of ${name}`)
      return found[0]?.value
    },
  }
}

function labelsIn(text: string): [string, string][] {
  return [...text.matchAll(LABEL)].map(([, label = '', value = '']) => [
    label,
    value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped)),
  ])
}
