import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { measure, type Result } from './case.ts'
import { intentCases } from './cases/intent-cases.ts'
import { node, type Served, serve } from './child.ts'
import { type Section, tableLine, wholeNumber } from './report.ts'
import { usualOrShort } from './short.ts'
import type { Stage } from './stage.ts'
import { nanosecondsUntraced } from './untraced.ts'

const ROUNDS = usualOrShort(5, 1)
const SECONDS = usualOrShort(1, 0.3)
const CLIENTS = usualOrShort([1, 32], [1])

/** The share of requests that is traced; null without a collector. */
const SHARES = [null, 0, 0.05, 1] as const

interface Variant {
  readonly share: (typeof SHARES)[number]
  readonly server: Served
}

/** Compares services without a collector and with one, in turns: the median of the rounds counts. */
export async function measureTracing(stage: Stage): Promise<Section> {
  const [intents] = await intentCases(stage)
  if (!intents) throw new Error('there is no case of intents')
  const variants = await variantsOf(stage, await aCollector(stage))
  const rows: { readonly share: number | null; readonly clients: number; readonly results: Result[] }[] = []
  for (const clients of CLIENTS) {
    const results = variants.map(({ share }) => ({ share, clients, results: [] as Result[] }))
    for (let round = 0; round < ROUNDS; round++)
      for (const [n, { server }] of variants.entries())
        results[n]?.results.push(await measure(stage, { ...intents, server }, clients, SECONDS))
    rows.push(...results)
  }
  const figures = rows.map(({ share, clients, results }) => ({
    share,
    clients,
    cpuMicroseconds: medianOf(results.map(({ cpuMicroseconds }) => cpuMicroseconds)),
    databaseMicroseconds: medianOf(results.map(({ databaseMicroseconds }) => databaseMicroseconds)),
  }))
  const untraced = await nanosecondsUntraced()
  const [off] = figures.toReversed().filter(({ share }) => share === null)
  const share = (untraced / 10 / (off?.cpuMicroseconds ?? 1)).toFixed(3)
  const text = [
    'POST /intents: processor time of the server + of PostgreSQL for one request, the median of the rounds',
    tableLine(['traced', ...CLIENTS.map(clients => `${clients} clients`)]),
    ...SHARES.map(share => tableLine([nameOf(share), ...CLIENTS.map(clients => cellOf(share, clients))])),
    `what is left without a collector: ${wholeNumber(untraced)} ns for each request, ${share} % of the server’s processor time`,
  ]
  function cellOf(share: number | null, clients: number): string {
    const of = figures.find(one => one.share === share && one.clients === clients)
    return `${wholeNumber(of?.cpuMicroseconds ?? 0)}+${wholeNumber(of?.databaseMicroseconds ?? 0)}µs`
  }
  return { figures: { tracing: figures, untraced }, text: text.join('\n') }
}

const nameOf = (share: number | null): string =>
  share === null ? 'off: no collector' : `${share * 100} % of the requests`

const medianOf = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0

async function variantsOf(stage: Stage, collector: string): Promise<Variant[]> {
  const variants: Variant[] = []
  for (const share of SHARES) {
    const traced =
      share === null ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_TRACES_SAMPLER_ARG: String(share) }
    const log = join(stage.folder, `api-${share}.log`)
    const server = await serve(node('test/bench/server.ts'), log, { ...stage.env, ...traced })
    stage.closeLater(server.stop)
    variants.push({ share, server })
  }
  return variants
}

/** Takes everything and looks at nothing. */
async function aCollector({ closeLater }: Stage): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200).end())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closeLater(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
