import { findIntent } from '../../../control/intents/index.ts'
import { effectivePolicy } from '../../../control/policies/index.ts'
import {
  approverOfWidening,
  refuseUnsignedWidening,
  type WebauthnAssertion,
} from '../../../identity/passkeys/index.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import { Refusal } from '../../../kernel/contract/problem.ts'
import { quoted, type StatedWidening } from '../../../statements/index.ts'
import { asksForSteps } from '../../../values/approval-steps.ts'
import { formatMoney } from '../../../values/money.ts'
import type { transfersApi } from '../api.ts'
import { awaitsPayeeConfirmation, type Transfer, transferResponse } from '../transfer.ts'
import { lockTransfer, updateTransfer } from './sepa-transfer.ts'

type Confirming = ContextOf<typeof transfersApi.confirmPayee>

const confirmationOfPayee = ({ id, amountCents, payee, payeeCheck }: Transfer): StatedWidening => ({
  of: 'transfer',
  id,
  name: null,
  field: `Payee of ${formatMoney(amountCents)}`,
  from: payeeCheck?.suggestedName ? `${quoted(payeeCheck.suggestedName)} at the bank` : 'unknown to the bank',
  to: `${quoted(payee?.name ?? '')}, ${payee?.iban}`,
})

async function asksSeveral({ agentId, amountCents }: Transfer, { em }: Confirming): Promise<boolean> {
  const policy = agentId === null ? null : await effectivePolicy(em, agentId)
  return policy !== null && asksForSteps(policy.approval, amountCents)
}

/** Where several people approve a payment, its requester does not confirm the payee. */
async function refuseUnconfirmed(
  transfer: Transfer,
  envelope: WebauthnAssertion | undefined,
  context: Confirming,
): Promise<Refusal | undefined> {
  const { em, actor, refuse } = context
  const confirmation = [confirmationOfPayee(transfer)]
  if (!(await asksSeveral(transfer, context)))
    return refuseUnsignedWidening(envelope, () => confirmation, context)
  const intent = transfer.intentId === null ? null : await findIntent(em, transfer.intentId)
  const isRequester = (personId: string | null) => personId !== null && personId === intent?.requesterId
  if (actor.type === 'console' && isRequester(actor.id)) return refuse('own_request')
  const signer = await approverOfWidening(envelope, confirmation, context)
  if (signer instanceof Refusal) return signer
  if (isRequester(signer.id)) return refuse('own_request')
  return signer.scopes.has('transfers:confirm-payee') ? undefined : refuse('insufficient_role')
}

export const confirmPayee: HandlerOf<typeof transfersApi.confirmPayee> = async (
  { params, body },
  context,
) => {
  const { now, refuse } = context
  const locked = await lockTransfer(params.id, context)
  if (!locked) return refuse('transfer_not_found')
  const { transfer } = locked
  if (!awaitsPayeeConfirmation(transfer)) return refuse('payee_not_waiting')
  const unconfirmed = await refuseUnconfirmed(transfer, body.webauthnAssertion, context)
  if (unconfirmed) return unconfirmed
  const dueAt = transfer.status === 'verifying' ? now : transfer.dueAt
  updateTransfer(transfer, { payeeConfirmedAt: now, dueAt }, context, body.comment)
  return transferResponse(transfer)
}
