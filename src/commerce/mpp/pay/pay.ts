import { type CallContext, CallExternal, takeStep } from '../../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { parseChallenges } from '../../../mpp/index.ts'
import type { mppApi } from '../api.ts'
import { headersBeside, merchantRequest } from '../merchant-request.ts'
import { mintRefusals } from '../refusals.ts'
import { mintStep } from './commit.ts'
import { askAndMint, type Minted } from './mint.ts'
import {
  type Asking,
  type GivingBack,
  isProblem,
  type PayProblem,
  type Sending,
  sending,
} from './reservation.ts'
import { reserveStep } from './reserve.ts'
import { type Open, type Paid, paidStep, recordOpen, recoverSent, send } from './send.ts'

/** Lets the processor delete a token that nobody has. If it does not answer, the token expires within a day. */
async function giveBack(
  { mode, tokenId, credentialId, now, problem }: GivingBack,
  { ports, requestId }: CallContext,
): Promise<PayProblem> {
  const { setNetworkToken } = ports.cardProcessor(mode)
  const reference = `${credentialId}-unused`
  await setNetworkToken?.(tokenId, 'deleted', { reference, requestId, now: new Date(now) })
  return problem
}

/** The commit before the first byte of the credential: what leaves is on record. */
const mintAndSend = mintStep('service', ({ payment, header, credential }, begun) => {
  const { request } = payment
  const headers = { ...headersBeside(request.headers, header), [header]: credential }
  return new CallExternal(sending({ ...payment, request: { ...request, headers } }, begun))
})

type Answer = Minted | Paid | Open | PayProblem

/** Asks, mints and commits, sends, records: each commit says what a crash after it means. */
export const pay: HandlerOf<typeof mppApi.pay, Asking | Sending | GivingBack, Answer> = {
  readsToReserve: true,

  reserve: reserveStep(({ body: { intentId: _, cardId: __, ...request } }) => ({
    request: merchantRequest(request),
    challenge: null,
  })),

  call(reservation, outside) {
    if (reservation.stage === 'ask') return askAndMint(reservation.payment, outside)
    return reservation.stage === 'send' ? send(reservation, outside) : giveBack(reservation, outside)
  },

  recordBatched(answer) {
    if (isProblem(answer) || answer.kind === 'open') return undefined
    return answer.kind === 'minted' ? takeStep(mintAndSend, answer) : takeStep(paidStep, answer)
  },

  async record(answer, _reservation, context) {
    if (isProblem(answer)) return context.refuse(answer.code, answer.message)
    if (answer.kind === 'open') return recordOpen(answer, context)
    throw new Error(`an answer that is ${answer.kind} is recorded in batches`)
  },

  async recover(reservation, context) {
    if (reservation.stage === 'send') return recoverSent(reservation.credentialId, context)
    const { code, message } = leftProblem(reservation)
    return context.refuse(code, message)
  },
}

/** Why a payment ends that a crash has left before its credential was sent. */
const leftProblem = (reservation: Asking | GivingBack): PayProblem =>
  reservation.stage === 'give back'
    ? reservation.problem
    : { code: 'pay_interrupted', message: mintRefusals.pay_interrupted[1] }

/** The address that was asked: the caller's word, or that of the challenge. */
function askedUrl(url: string | undefined, challenge: string): string {
  const [first] = parseChallenges([challenge]).challenges
  return url ?? `https://${first?.realm ?? ''}`
}

const mintAndShow = mintStep('caller', ({ header, credential }, _begun, record) =>
  withMembers(record, { header: headerName(header), credential }),
)

/** Mints without sending: the caller is shown the credential, once. */
export const mint: HandlerOf<typeof mppApi.mint, Asking | GivingBack, Minted | PayProblem> = {
  readsToReserve: true,

  reserve: reserveStep(({ body: { intentId: _, cardId: __, challenge, url, ...request } }) => ({
    request: merchantRequest({ ...request, url: askedUrl(url, challenge) }),
    challenge,
  })),

  call: (reservation, outside) =>
    reservation.stage === 'ask' ? askAndMint(reservation.payment, outside) : giveBack(reservation, outside),

  recordBatched: answer => (isProblem(answer) ? undefined : takeStep(mintAndShow, answer)),

  async record(answer, _reservation, { refuse }) {
    if (isProblem(answer)) return refuse(answer.code, answer.message)
    throw new Error(`an answer that is ${answer.kind} is recorded in batches`)
  },

  async recover(reservation, { refuse }) {
    const { code, message } = leftProblem(reservation)
    return refuse(code, message)
  },
}

const headerName = (header: string): string =>
  header === 'authorization' ? 'Authorization' : 'Payment-Authorization'
