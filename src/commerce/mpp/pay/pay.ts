import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { parseChallenges } from '../../../mpp/index.ts'
import { mintRefusals, type mppApi } from '../api.ts'
import { buildMerchantRequest } from '../merchant-request.ts'
import {
  type ConfirmStage,
  isPayProblem,
  type MachinePaymentProblem,
  type MachinePaymentStage,
  type OfferStage,
  type ReturnTokenStage,
  type SendStage,
} from './payment.ts'
import { reserveMachinePaymentStep } from './reserve.ts'
import { type IndeterminatePayment, recordIndeterminate, recoverSentCredential } from './send.ts'
import { endUnshared, type NotShared, recordWaiting, recoverSharing } from './share.ts'

/**
 * The steps: ask, mint and commit, send, record. The method `stripe` commits first, then creates its token and
 * commits that, too. Each commit determines what a crash after it means.
 */
export const payMachinePayment: HandlerOf<
  typeof mppApi.pay,
  MachinePaymentStage,
  IndeterminatePayment | NotShared
> = {
  begin: {
    by: 'shared reading',
    step: reserveMachinePaymentStep(
      ({ body: { intentId: _, cardId: __, ...request } }) => ({
        request: buildMerchantRequest(request),
        challenge: null,
      }),
      'service',
    ),
  },

  async record(answer, _reservation, context) {
    if (isPayProblem(answer)) return context.refuse(answer.code, answer.message)
    if (answer.kind === 'waiting') return recordWaiting(answer, context)
    return answer.kind === 'unshared' ? endUnshared(answer, context) : recordIndeterminate(answer, context)
  },

  async recover(reservation, context) {
    const { stage } = reservation
    if (stage === 'send') return recoverSentCredential(reservation.credentialId, context)
    if (stage === 'share') return recoverSharing(reservation.credentialId, context)
    const { code, message } = crashProblem(reservation)
    return context.refuse(code, message)
  },
}

const crashProblem = (reservation: OfferStage | ConfirmStage | ReturnTokenStage): MachinePaymentProblem =>
  reservation.stage === 'give back'
    ? reservation.problem
    : { code: 'pay_interrupted', message: mintRefusals.pay_interrupted[1] }

function requestedUrl(url: string | undefined, challenge: string): string {
  const [first] = parseChallenges([challenge]).challenges
  return url ?? `https://${first?.realm ?? ''}`
}

export const mintCredential: HandlerOf<
  typeof mppApi.mint,
  Exclude<MachinePaymentStage, SendStage>,
  NotShared
> = {
  begin: {
    by: 'shared reading',
    step: reserveMachinePaymentStep(
      ({ body: { intentId: _, cardId: __, challenge, url, ...request } }) => ({
        request: buildMerchantRequest({ ...request, url: requestedUrl(url, challenge) }),
        challenge,
      }),
      'caller',
    ),
  },

  async record(answer, _reservation, context) {
    if (isPayProblem(answer)) return context.refuse(answer.code, answer.message)
    return answer.kind === 'waiting' ? recordWaiting(answer, context) : endUnshared(answer, context)
  },

  async recover(reservation, context) {
    if (reservation.stage === 'share') return recoverSharing(reservation.credentialId, context)
    const { code, message } = crashProblem(reservation)
    return context.refuse(code, message)
  },
}
