import { text } from 'node:stream/consumers'
import { printError, printLine } from '../platform/output.ts'
import { type Erasure, reapplyDeletions } from '../platform/reapply-deletions.ts'
import { environment } from '../platform/settings/environment.ts'

/** `agentpay gdpr reapply` starts it, with a list of deletions on standard input; what became of each is on standard output. */
async function reapply(): Promise<void> {
  const { databaseUrl } = environment()
  if (!databaseUrl) throw new Error('Not set: DATABASE_URL.')
  const erasures: Erasure[] = JSON.parse(await text(process.stdin))
  printLine(JSON.stringify(await reapplyDeletions(databaseUrl, erasures)))
}

reapply().catch(error => {
  printError(error.message)
  process.exitCode = 1
})
