import { payeeCheckBy } from '../../../iso20022/pain002.ts'
import { type ContextOf, implement } from '../../../kernel/contract/operation.ts'
import { transferResponse } from '../response.ts'
import { applyNotice, type Notice } from './apply-notice.ts'
import { lockTransfer } from './lock-transfer.ts'
import type { SepaTransfer } from './sepa-transfer.ts'
import { simulateApi } from './simulate-api.ts'

type SimulateContext = ContextOf<typeof simulateApi.simulateReject>

async function applySimulated(
  transferId: string,
  apply: (sepaTransfer: SepaTransfer) => Promise<boolean> | boolean,
  context: SimulateContext,
) {
  const { tenant, refuse } = context
  if (tenant.mode !== 'test') return refuse('test_mode_only')
  const sepaTransfer = await lockTransfer(transferId, context)
  if (!sepaTransfer) return refuse('transfer_not_found')
  if (!sepaTransfer.isSubmitted()) return refuse('transfer_not_submitted')
  await apply(sepaTransfer)
  await sepaTransfer.post()
  return transferResponse(sepaTransfer.transfer)
}

const byNotice =
  (notice: Notice, reasonCode: string | null, { now }: SimulateContext) =>
  (sepaTransfer: SepaTransfer) =>
    applyNotice(sepaTransfer, notice, reasonCode, now)

export const simulate = implement(simulateApi, {
  simulateSettle: ({ body: { transferId } }, context) =>
    applySimulated(transferId, byNotice('settled', null, context), context),
  simulateReject: ({ body: { transferId, reasonCode } }, context) =>
    applySimulated(transferId, byNotice('rejected', reasonCode, context), context),
  simulateReturn: ({ body: { transferId, reasonCode } }, context) =>
    applySimulated(transferId, byNotice('returned', reasonCode, context), context),
  simulateVerify: ({ body: { transferId, status, suggestedName } }, context) =>
    applySimulated(transferId, transfer => transfer.checkPayee(payeeCheckBy(status, suggestedName)), context),
})
