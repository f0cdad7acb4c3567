import type { CallContext } from '../../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { parseChallenges } from '../../../mpp/index.ts'
import { mintRefusals, type mppApi } from '../api.ts'
import { merchantRequest } from '../merchant-request.ts'
import { mintStep } from './commit.ts'
import { type AskStage, type GiveBackStage, isProblem, type PayProblem, type Stage } from './payment.ts'
import { reserveStep } from './reserve.ts'
import { type Open, recordOpen, recoverSent } from './send.ts'

/** Makes the processor delete a token that was never sent. If it does not answer, the token expires within a day. */
async function giveBack(
  { mode, tokenId, credentialId, now, problem }: GiveBackStage,
  { ports, requestId }: CallContext,
): Promise<PayProblem> {
  const { setNetworkToken } = ports.cardProcessor(mode)
  const reference = `${credentialId}-unused`
  await setNetworkToken?.(tokenId, 'deleted', { reference, requestId, now: new Date(now) })
  return problem
}

/** The steps: ask, mint and commit, send, record. Each commit determines what a crash after it means. */
export const pay: HandlerOf<typeof mppApi.pay, Stage, PayProblem | Open> = {
  readsToReserve: true,

  reserve: reserveStep(
    ({ body: { intentId: _, cardId: __, ...request } }) => ({
      request: merchantRequest(request),
      challenge: null,
    }),
    mintStep('service'),
  ),

  call: giveBack,

  async record(answer, _reservation, context) {
    return isProblem(answer) ? context.refuse(answer.code, answer.message) : recordOpen(answer, context)
  },

  async recover(reservation, context) {
    if (reservation.stage === 'send') return recoverSent(reservation.credentialId, context)
    const { code, message } = crashProblem(reservation)
    return context.refuse(code, message)
  },
}

const crashProblem = (reservation: AskStage | GiveBackStage): PayProblem =>
  reservation.stage === 'give back'
    ? reservation.problem
    : { code: 'pay_interrupted', message: mintRefusals.pay_interrupted[1] }

function requestedUrl(url: string | undefined, challenge: string): string {
  const [first] = parseChallenges([challenge]).challenges
  return url ?? `https://${first?.realm ?? ''}`
}

export const mint: HandlerOf<typeof mppApi.mint, AskStage | GiveBackStage, PayProblem> = {
  readsToReserve: true,

  reserve: reserveStep(
    ({ body: { intentId: _, cardId: __, challenge, url, ...request } }) => ({
      request: merchantRequest({ ...request, url: requestedUrl(url, challenge) }),
      challenge,
    }),
    mintStep('caller'),
  ),

  call: giveBack,

  async record({ code, message }, _reservation, { refuse }) {
    return refuse(code, message)
  },

  async recover(reservation, { refuse }) {
    const { code, message } = crashProblem(reservation)
    return refuse(code, message)
  },
}
