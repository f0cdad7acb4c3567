import { payeeCheckBy } from '../../../iso20022/pain002.ts'
import { type ContextOf, implement } from '../../../kernel/contract/operation.ts'
import type { Notice } from '../schemas.ts'
import { transferResponse } from '../transfer.ts'
import { simulateApi } from './api.ts'
import { applyNotice, checkPayee } from './notices.ts'
import { type LockedTransfer, lockTransfer, writeTransfer } from './sepa-transfer.ts'

type SimulateContext = ContextOf<typeof simulateApi.simulateReject>

async function applySimulated(
  transferId: string,
  apply: (locked: LockedTransfer) => boolean,
  context: SimulateContext,
) {
  const { tenant, refuse } = context
  if (tenant.mode !== 'test') return refuse('test_mode_only')
  const locked = await lockTransfer(transferId, context)
  if (!locked) return refuse('transfer_not_found')
  if (!locked.transfer.submittedAt) return refuse('transfer_not_submitted')
  apply(locked)
  await writeTransfer(locked, context)
  return transferResponse(locked.transfer)
}

const byNotice =
  (notice: Notice, reasonCode: string | null, context: SimulateContext) => (locked: LockedTransfer) =>
    applyNotice(locked, notice, reasonCode, context)

export const simulate = implement(simulateApi, {
  simulateSettle: ({ body: { transferId } }, context) =>
    applySimulated(transferId, byNotice('settled', null, context), context),
  simulateReject: ({ body: { transferId, reasonCode } }, context) =>
    applySimulated(transferId, byNotice('rejected', reasonCode, context), context),
  simulateReturn: ({ body: { transferId, reasonCode } }, context) =>
    applySimulated(transferId, byNotice('returned', reasonCode, context), context),
  simulateVerify: ({ body: { transferId, status, suggestedName } }, context) =>
    applySimulated(
      transferId,
      ({ transfer }) => checkPayee(transfer, payeeCheckBy(status, suggestedName), context),
      context,
    ),
})
