import { type Section, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage, withClient } from '../stage.ts'
import { anAccount } from './account.ts'

/** Half are payees, half are entries of the audit trail about them. */
const RECORDS = usualOrShort(1_000_000, 20_000)

const READY = `
update gdpr_exports set status = 'ready', ready_at = now(), expires_at = now() + interval '7 days', records = 0 where id = $1`

interface Archived {
  readonly megabytes: number
  readonly seconds: number
  readonly memoryBefore: number
  readonly memoryMost: number
}

/** Requests an archive and reads it as fast as it comes; samples the service's memory five times a second. */
export async function download(stage: Stage, token: string, body: object): Promise<Archived> {
  const { id } = await post(stage.api, '/gdpr/exports', body, bearer({ token }))
  await withClient(stage, client => client.query(READY, [id]))
  const memoryBefore = stage.api.memoryMegabytes()
  let memoryMost = memoryBefore
  const watch = setInterval(() => {
    memoryMost = Math.max(memoryMost, stage.api.memoryMegabytes())
  }, 200)
  const began = performance.now()
  const answer = await fetch(`${stage.api.url}/gdpr/exports/${id}/archive`, { headers: bearer({ token }) })
  if (!answer.ok || !answer.body) throw new Error(await answer.text())
  let bytes = 0
  for await (const piece of answer.body) bytes += piece.length
  clearInterval(watch)
  return { megabytes: bytes / 1e6, seconds: (performance.now() - began) / 1_000, memoryBefore, memoryMost }
}

const told = (what: string, { megabytes, seconds, memoryBefore, memoryMost }: Archived): string =>
  `${what}: ${megabytes.toFixed(1)} MB in ${seconds.toFixed(1)} s; memory ${wholeNumber(memoryBefore)} MB, at most ${wholeNumber(memoryMost)} MB`

/** Measures the archive of an owner with a million records, and that of one of the payees. */
export async function measureArchives(stage: Stage): Promise<Section> {
  const { token } = await anAccount(stage, RECORDS / 2, RECORDS / 2)
  const owner = await download(stage, token, {})
  const id = `beneficiary_${'7'.padStart(26, '0')}`
  const payee = await download(stage, token, { subject: { type: 'beneficiary', id } })
  const text = [
    told(`an owner with ${wholeNumber(RECORDS)} records`, owner),
    told('a payee among them', payee),
  ].join('\n')
  return { figures: { owner, payee }, text }
}
