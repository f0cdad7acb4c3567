import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { PAPER_TABLES } from '../support/uploading-noun.ts'
import { node, type Served, serve } from './child.ts'
import { type Section, tableLine } from './report.ts'
import { usualOrShort } from './short.ts'
import { bearer, type Stage, withClient } from './stage.ts'

const BYTES = 5_000_000
/** The smaller files, many at once. */
const MANY_BYTES = 1_000_000
const AT_ONCE = 16
const MANY = usualOrShort(320, 32)
const ROUNDS = usualOrShort(60, 5)
const WARM_UP = usualOrShort(10, 1)
/** As `fetch` writes them: a longer one is found faster. */
const BOUNDARY = '----formdata-undici-098466930591'

const WAYS = {
  bare: 'the bare write and sync',
  form: 'POST /papers, multipart/form-data',
  json: 'POST /papers, Base64 in JSON',
  smallest: 'the smallest server: receives, hashes, encrypts, flushes',
} as const
type Way = keyof typeof WAYS

/**
 * Measures an upload of 5 MB, from its first byte to its answer, against writing and flushing as many bytes,
 * and against a minimal server in Node, in turns.
 */
export async function measureUploads(stage: Stage): Promise<Section> {
  await withClient(stage, client => client.query(PAPER_TABLES))
  const send = sender(stage)
  const smallest = await serve(
    [...node('test/bench/load/smallest-upload.ts'), stage.folder],
    join(stage.folder, 'smallest.log'),
    {},
  )
  stage.closeLater(smallest.stop)
  const work: Work = {
    bare: (body, n) => writeBare(join(stage.folder, `bare-${n}`), body),
    form: body => send(stage.api, `multipart/form-data; boundary=${BOUNDARY}`, body),
    json: body => send(stage.api, 'application/json', body),
    smallest: body => send(smallest, 'application/octet-stream', body),
  }
  const times: Record<Way, number[]> = { bare: [], form: [], json: [], smallest: [] }
  for (let round = -WARM_UP; round < ROUNDS; round++)
    for (const way of Object.keys(WAYS) as Way[]) {
      const body = bodies[way](aPdf())
      const began = performance.now()
      await work[way](body, round)
      if (round >= 0) times[way].push(performance.now() - began)
    }
  const spreads = mapped(times, all => ({ p10: at(0.1, all), p50: at(0.5, all) }))
  const many = await measureMany(work)
  const text = `${reportOf(spreads)}\n\n${manyReportOf(many)}`
  return { figures: { uploads: spreads, uploadsAtOnce: many }, text }
}

type Work = Readonly<Record<Way, (body: Buffer, n: number) => Promise<void>>>
const MANY_WAYS = ['bare', 'form', 'smallest'] as const
type Rates = Record<(typeof MANY_WAYS)[number], number>

/** Files of 1 MB per second, written and flushed, and uploaded, by sixteen at once. */
async function measureMany(work: Work): Promise<Rates> {
  const rates: Rates = { bare: 0, form: 0, smallest: 0 }
  for (const way of MANY_WAYS) {
    const waiting = Array.from({ length: MANY }, () => bodies[way](aPdf(MANY_BYTES)))
    const began = performance.now()
    const line = async () => {
      for (let body = waiting.pop(); body; body = waiting.pop()) await work[way](body, MANY + waiting.length)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, line))
    rates[way] = (MANY / (performance.now() - began)) * 1_000
  }
  return rates
}

const manyReportOf = (rates: Rates): string =>
  [
    tableLine([`1 MB, ${AT_ONCE} at once`, 'a second', 'of the bare rate', 'of the smallest server']),
    ...MANY_WAYS.map(way =>
      tableLine([
        WAYS[way],
        rates[way].toFixed(0),
        ...[rates[way] / rates.bare, rates[way] / rates.smallest].map(share => share.toFixed(2)),
      ]),
    ),
  ].join('\n')

/** The tenth percentile is the time on an otherwise idle machine. */
interface Spread {
  readonly p10: number
  readonly p50: number
}

function reportOf(spreads: Readonly<Record<Way, Spread>>): string {
  const { bare, smallest } = spreads
  return [
    tableLine([
      '5 MB, one after the other',
      'p10 ms',
      'p50 ms',
      'of the bare rate, p10',
      'p50',
      'of the smallest server, p50',
    ]),
    ...Object.entries(spreads).map(([way, { p10, p50 }]) =>
      tableLine([
        WAYS[way as Way],
        ...[p10, p50].map(ms => ms.toFixed(1)),
        ...[bare.p10 / p10, bare.p50 / p50, smallest.p50 / p50].map(share => share.toFixed(2)),
      ]),
    ),
  ].join('\n')
}

const at = (share: number, values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN

const mapped = <T, U>(all: Readonly<Record<Way, T>>, of: (one: T) => U): Record<Way, U> => ({
  bare: of(all.bare),
  form: of(all.form),
  json: of(all.json),
  smallest: of(all.smallest),
})

/** New content each time, as equal files are stored once. */
export function aPdf(size = BYTES): Buffer {
  const bytes = randomBytes(size)
  bytes.write('%PDF-1.4\n')
  return bytes
}

async function writeBare(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx')
  await file.writeFile(content)
  await file.sync()
  await file.close()
}

const part = (head: string): string => `--${BOUNDARY}\r\nContent-Disposition: form-data; name=${head}\r\n\r\n`

export const asForm = (content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${part('"title"')}Bench\r\n${part('"paper"; filename="bench.pdf"')}`),
    content,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ])

const asJson = (content: Buffer): Buffer =>
  Buffer.from(`{"title":"Bench","paper":"${content.toString('base64')}"}`)

/** The contents, created before the clock starts. */
const bodies: Record<Way, (content: Buffer) => Buffer> = {
  bare: content => content,
  form: asForm,
  json: asJson,
  smallest: content => content,
}

export function sender(stage: Stage) {
  const agent = new Agent({ keepAlive: true })
  stage.closeLater(async () => agent.destroy())
  return ({ url }: Pick<Served, 'url'>, type: string, body: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { ...bearer(stage), 'content-type': type, 'content-length': body.length }
      const sent = request(`${url}/papers`, { method: 'POST', agent, headers }, response => {
        response
          .resume()
          .on('end', () =>
            response.statusCode === 201 ? resolve() : reject(new Error(`${response.statusCode}`)),
          )
      })
      sent.on('error', reject).end(body)
    })
}
