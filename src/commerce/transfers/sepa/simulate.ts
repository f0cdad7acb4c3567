import { type ContextOf, implement } from '../../../kernel/contract/operation.ts'
import { transferResponse } from '../response.ts'
import { applyNotice, type Notice } from './apply-notice.ts'
import { lockTransfer } from './lock-transfer.ts'
import { simulateApi } from './simulate-api.ts'

type SimulateContext = ContextOf<typeof simulateApi.simulateReject>

async function applySimulated(
  transferId: string,
  notice: Notice,
  reasonCode: string | null,
  context: SimulateContext,
) {
  const { tenant, now, refuse } = context
  if (tenant.mode !== 'test') return refuse('test_mode_only')
  const sepaTransfer = await lockTransfer(transferId, context)
  if (!sepaTransfer) return refuse('transfer_not_found')
  if (!sepaTransfer.isSubmitted()) return refuse('transfer_not_submitted')
  await applyNotice(sepaTransfer, notice, reasonCode, now)
  await sepaTransfer.post()
  return transferResponse(sepaTransfer.transfer)
}

export const simulate = implement(simulateApi, {
  simulateSettle: ({ body: { transferId } }, context) => applySimulated(transferId, 'settled', null, context),
  simulateReject: ({ body: { transferId, reasonCode } }, context) =>
    applySimulated(transferId, 'rejected', reasonCode, context),
  simulateReturn: ({ body: { transferId, reasonCode } }, context) =>
    applySimulated(transferId, 'returned', reasonCode, context),
})
