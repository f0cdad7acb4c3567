import { text } from 'node:stream/consumers'
import { printError, printLine } from '../platform/output.ts'
import { type RecordedErasure, reapplyDeletions } from '../platform/reapply-deletions.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'

/**
 * `agentpay gdpr reapply` starts this with deletions on standard input: a list, or the output of `agentpay
 * gdpr list-erasures`. Writes the outcome of each to standard output.
 */
async function reapply(): Promise<void> {
  const { databaseUrl } = readEnvironmentSettings()
  if (!databaseUrl) throw new Error('Not set: DATABASE_URL.')
  const listed: RecordedErasure[] | { readonly data: RecordedErasure[] } = JSON.parse(
    await text(process.stdin),
  )
  const erasures = Array.isArray(listed) ? listed : listed.data
  printLine(JSON.stringify(await reapplyDeletions(databaseUrl, erasures)))
}

reapply().catch(error => {
  printError(error.message)
  process.exitCode = 1
})
