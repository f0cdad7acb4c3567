import type { Context } from '../../kernel/contract/context.ts'
import { type Done, isFailure, type ProcessorFailure } from '../../ports/card-processor.ts'
import { AgentCredential } from './agent-credential.ts'

type Reading = Pick<Context, 'records'>

/** The processor's id of a machine payment's token that is revoked here and not yet deleted there; null for any other. */
export async function tokenToDelete(mppCredentialId: string, { records }: Reading): Promise<string | null> {
  const found = await records.findOne(AgentCredential, { mppCredentialId })
  return found?.status === 'revoked' && found.processorProblem !== null ? found.tokenId : null
}

/** Notes what the processor answered; true once there is nothing left to tell it. */
export async function noteDeletion(
  mppCredentialId: string,
  answer: Done | ProcessorFailure,
  { records }: Reading,
): Promise<boolean> {
  const found = await records.findOne(AgentCredential, { mppCredentialId })
  const credential = found && (await records.lock(AgentCredential, found.id))
  if (!credential) return true
  const isOpen = isFailure(answer) && answer.failure !== 'refused'
  if (!isOpen)
    credential.processorProblem = isFailure(answer) ? 'The processor refuses to delete the token.' : null
  return !isOpen
}
