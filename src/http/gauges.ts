import { Gauge, Registry } from 'prom-client'

/** A gauge at one moment. Without samples it is left out. */
export type GaugeNow = {
  readonly name: string
  readonly help: string
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]
}

/** Returns gauges in the text format of Prometheus. Label values are escaped. */
export function gaugeText(gauges: readonly GaugeNow[]): Promise<string> {
  const registry = new Registry()
  for (const { name, help, samples } of gauges) {
    const [first] = samples
    if (!first) continue
    const gauge = new Gauge({ name, help, labelNames: Object.keys(first[0]), registers: [registry] })
    for (const [labels, value] of samples) gauge.set(labels, value)
  }
  return registry.metrics()
}

export function secondsOf(at: Date): number {
  return at.getTime() / 1_000
}
