import { type ContextOf, implement } from '../../../kernel/contract/operation.ts'
import { shown } from '../response.ts'
import { hear, type Notice } from './apply-notice.ts'
import { takeUp } from './sepa-transfer.ts'
import { simulateApi } from './simulate-api.ts'

type Playing = ContextOf<typeof simulateApi.simulateReject>

async function play(transferId: string, notice: Notice, reasonCode: string | null, context: Playing) {
  const { tenant, now, refuse } = context
  if (tenant.mode !== 'test') return refuse('test_mode_only')
  const course = await takeUp(transferId, context)
  if (!course) return refuse('transfer_not_found')
  if (!course.isAtTheRail()) return refuse('transfer_not_submitted')
  await hear(course, notice, reasonCode, now)
  await course.post()
  return shown(course.transfer)
}

export const simulate = implement(simulateApi, {
  simulateSettle: ({ body: { transferId } }, context) => play(transferId, 'settled', null, context),
  simulateReject: ({ body: { transferId, reasonCode } }, context) =>
    play(transferId, 'rejected', reasonCode, context),
  simulateReturn: ({ body: { transferId, reasonCode } }, context) =>
    play(transferId, 'returned', reasonCode, context),
})
