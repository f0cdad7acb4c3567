import { randomFillSync } from 'node:crypto'
import { join } from 'node:path'
import { PAPER_TABLES } from '../../support/uploading-noun.ts'
import { type Case, measure, type Result } from '../case.ts'
import { intentCases } from '../cases/intent-cases.ts'
import { node, serve } from '../child.ts'
import { type Section, tableLine } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { type Stage, withClient } from '../stage.ts'
import { aPdf, asForm, sender } from '../uploads.ts'

const BYTES = 1_000_000
const UPLOADS_AT_ONCE = 4
const CONNECTIONS = 8
const SECONDS = usualOrShort(5, 0.5)
const ROUNDS = usualOrShort(4, 1)
/** Far below the service's capacity, so that their own number does not slow them down. */
const STEADY = 100

/** Sends one file, whose content differs each time. */
type Send = (body: Buffer) => Promise<void>
const NONE = 'alone'
type Results = Record<string, Result[]>

/**
 * How long `POST /intents` takes while others upload files of 1 MB continuously, against its time without
 * uploads, in turns: with eight busy connections, which leave no processor to the uploads, and at a steady
 * hundred a second. For comparison, the same files go to a minimal server that receives, hashes, encrypts and
 * flushes them.
 */
export async function measureBesideUploads(stage: Stage): Promise<Section> {
  await withClient(stage, client => client.query(PAPER_TABLES))
  const [intents] = (await intentCases(stage)) as [Case]
  const smallest = await serve(
    [...node('test/bench/load/smallest-upload.ts'), stage.folder],
    join(stage.folder, 'smallest.log'),
    {},
  )
  stage.closeLater(smallest.stop)
  const send = sender(stage)
  const besides: Record<string, Send | undefined> = {
    [NONE]: undefined,
    [`while ${UPLOADS_AT_ONCE} upload 1 MB each`]: body => send(stage.api, FORM, body),
    'while as many send it to the smallest server': body => send(smallest, FORM, body),
  }
  const loads = { [`${CONNECTIONS} connections`]: intents, [`${STEADY} a second`]: steady(intents) }
  const sections: Section[] = []
  for (const [load, one] of Object.entries(loads)) {
    const [results, sent] = await measureEach(stage, one, besides)
    sections.push(sectionOf(load, results, sent))
  }
  const figures = Object.assign({}, ...sections.map(section => section.figures))
  return { figures: { besideUploads: figures }, text: sections.map(({ text }) => text).join('\n\n') }
}

const FORM = 'multipart/form-data; boundary=----formdata-undici-098466930591'

const steady = (one: Case): Case => ({
  ...one,
  request: async () => ({ ...(await one.request()), arrivalsPerSecond: STEADY }),
})

async function measureEach(
  stage: Stage,
  one: Case,
  besides: Readonly<Record<string, Send | undefined>>,
): Promise<[Results, Record<string, number>]> {
  const results: Results = {}
  const sent: Record<string, number> = {}
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, send] of Object.entries(besides)) {
      const uploading = send && uploadsBy(send)
      results[name] = [...(results[name] ?? []), await measure(stage, one, CONNECTIONS, SECONDS)]
      sent[name] = (sent[name] ?? 0) + ((await uploading?.stop()) ?? 0)
    }
  return [results, sent]
}

function sectionOf(load: string, results: Results, sent: Readonly<Record<string, number>>): Section {
  const best = Object.entries(results).map(([name, all]) => [name, leastOf(all)] as const)
  const alone = best.find(([name]) => name === NONE)?.[1].p99 ?? Number.NaN
  const lines = best.map(([name, { p50, p99, perSecond }]) =>
    tableLine([
      name,
      `${p50.toFixed(1)}/${p99.toFixed(1)} ms ${perSecond.toFixed(0)}/s`,
      (p99 / alone).toFixed(2),
      String(sent[name]),
    ]),
  )
  const head = tableLine([
    `POST /intents, ${load}`,
    'p50/p99, the best round',
    'p99 of that alone',
    'uploads in all',
  ])
  return {
    figures: { [load]: { ...Object.fromEntries(best), uploads: sent } },
    text: [head, ...lines].join('\n'),
  }
}

const leastOf = (results: readonly Result[]): Result =>
  results.toSorted((one, other) => one.p99 - other.p99)[0] as Result

function uploadsBy(send: Send): { stop(): Promise<number> } {
  let isOver = false
  let count = 0
  const line = async () => {
    const body = asForm(aPdf(BYTES))
    for (; !isOver; count++) await send(randomFillSync(body, BYTES / 2, 16))
  }
  const lines = Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, line))
  return {
    async stop() {
      isOver = true
      await lines
      return count
    },
  }
}
