import { randomBytes } from 'node:crypto'
import { PAPER_TABLES } from '../../support/uploading-noun.ts'
import { type Case, measure, type Result } from '../case.ts'
import { intentCases } from '../cases/intent-cases.ts'
import { type Section, tableLine } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { bearer, type Stage, withClient } from '../stage.ts'

const BYTES = 1_000_000
const UPLOADS_AT_ONCE = 4
const CONNECTIONS = 8
const SECONDS = usualOrShort(5, 0.5)
const ROUNDS = usualOrShort(4, 1)

/** How long `POST /intents` takes while others upload files of 1 MB, beside how long it takes alone, in turns. */
export async function measureBesideUploads(stage: Stage): Promise<Section> {
  await withClient(stage, client => client.query(PAPER_TABLES))
  const [intents] = (await intentCases(stage)) as [Case]
  const alone: Result[] = []
  const beside: Result[] = []
  let uploads = 0
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await measure(stage, intents, CONNECTIONS, SECONDS))
    const uploading = uploadsTo(stage)
    beside.push(await measure(stage, intents, CONNECTIONS, SECONDS))
    uploads += await uploading.stop()
  }
  const [one, other] = [leastOf(alone), leastOf(beside)]
  const line = (title: string, { p50, p99, perSecond }: Result, share: number): string =>
    tableLine([title, `${p50.toFixed(1)}/${p99.toFixed(1)} ms ${perSecond.toFixed(0)}/s`, share.toFixed(2)])
  const text = [
    tableLine([`POST /intents, ${CONNECTIONS} connections`, 'p50/p99, the best round', 'p99 of that alone']),
    line('alone', one, 1),
    line(`while ${UPLOADS_AT_ONCE} upload 1 MB each (${uploads} in all)`, other, other.p99 / one.p99),
  ].join('\n')
  return { figures: { besideUploads: { alone: one, beside: other, uploads } }, text }
}

const leastOf = (results: readonly Result[]): Result =>
  results.toSorted((one, other) => one.p99 - other.p99)[0] as Result

/** Uploads files, another content each time, until it is stopped; tells how many there were. */
function uploadsTo(stage: Stage): { stop(): Promise<number> } {
  let isOver = false
  let count = 0
  const line = async () => {
    for (; !isOver; count++) {
      const bytes = randomBytes(BYTES)
      bytes.write('%PDF-1.4\n')
      const body = new FormData()
      body.set('title', 'Bench')
      body.set('paper', new File([bytes], 'bench.pdf', { type: 'application/pdf' }))
      const answer = await fetch(`${stage.api.url}/papers`, { method: 'POST', headers: bearer(stage), body })
      await answer.text()
      if (answer.status !== 201) throw new Error(`an upload was answered ${answer.status}`)
    }
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
