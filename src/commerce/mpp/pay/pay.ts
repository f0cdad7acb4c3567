import { CallExternal } from '../../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { parseChallenges } from '../../../mpp/index.ts'
import type { Done, ProcessorFailure } from '../../../ports/card-processor.ts'
import type { mppApi } from '../api.ts'
import { headersBeside, merchantRequest } from '../merchant-request.ts'
import { askAndMint, type Minted } from './ask.ts'
import { mintStep } from './commit.ts'
import type { Outside } from './outside.ts'
import {
  Asking,
  type GivingBack,
  isProblem,
  type PayProblem,
  Sending,
  type StoredReservation,
} from './reservation.ts'
import { reserveStep } from './reserve.ts'
import { isPaid, outcomeStep, recordOpen, recoverSent, type Sent, send } from './send.ts'

type Reservation = Asking | Sending | GivingBack
type Answer = Minted | PayProblem | Sent | Done | ProcessorFailure | null

/** Lets the processor delete a token that nobody has. If it does not answer, the token expires within a day. */
async function giveBack({ mode, tokenId, credentialId, now }: GivingBack, { ports, requestId }: Outside) {
  const { setNetworkToken } = ports.cardProcessor(mode)
  const reference = `${credentialId}-unused`
  return setNetworkToken
    ? setNetworkToken(tokenId, 'deleted', { reference, requestId, now: new Date(now) })
    : null
}

function call(reservation: Reservation, outside: Outside): Promise<Answer> {
  if (reservation instanceof Asking) return askAndMint(reservation, outside)
  return reservation instanceof Sending ? send(reservation, outside) : giveBack(reservation, outside)
}

/** The commit before the first byte of the credential: what leaves is on record. */
const mintAndSend = mintStep('service', (credential, { answer: minted, reservation: { request } }, begun) => {
  const headers = { ...headersBeside(request.headers, minted.header), [minted.header]: minted.credential }
  return new CallExternal(new Sending(credential, begun, { ...request, headers }))
})

const recordPaid = outcomeStep()

/** Asks, mints and commits, sends, records: each commit says what a crash after it means. */
export const pay: HandlerOf<typeof mppApi.pay> = {
  reserve: reserveStep(({ body: { intentId: _, cardId: __, ...request } }) => ({
    request: merchantRequest(request),
    challenge: null,
  })),
  call: (reservation, outside) => call(reservation as Reservation, outside),
  together(answer, reservation) {
    if (isMinted(answer, reservation)) return mintAndSend
    return reservation instanceof Sending && isPaid(answer as Sent) ? recordPaid : undefined
  },
  async record(answer, reserved, context) {
    const reservation = reserved as Reservation
    if (reservation instanceof Sending) return recordOpen(answer as Sent, reservation.credentialId, context)
    const { code, message } = problemOf(answer, reservation)
    return context.refuse(code, message)
  },
  async recover(stored, context) {
    const reservation = stored as StoredReservation
    if (reservation.stage === 'send') return recoverSent(reservation.credentialId, context)
    if (reservation.stage === 'ask') return context.refuse('pay_interrupted')
    return context.refuse(reservation.problem.code, reservation.problem.message)
  },
}

/** Whether there is a token to be put on record. */
const isMinted = (answer: unknown, reservation: unknown): boolean =>
  reservation instanceof Asking && !isProblem(answer as Minted | PayProblem)

/** Why nothing was sent: the merchant’s offer, or what has changed since it was asked. */
const problemOf = (answer: unknown, reservation: Asking | GivingBack): PayProblem =>
  reservation instanceof Asking ? (answer as PayProblem) : reservation.problem

/** The address that was asked: the caller's word, or that of the challenge. */
function askedUrl(url: string | undefined, challenge: string): string {
  const [first] = parseChallenges([challenge]).challenges
  return url ?? `https://${first?.realm ?? ''}`
}

const mintAndShow = mintStep('caller', (credential, { answer: minted }) =>
  withMembers(credential, { header: headerName(minted.header), credential: minted.credential }),
)

/** Mints without sending: the caller is shown the credential, once. */
export const mint: HandlerOf<typeof mppApi.mint> = {
  reserve: reserveStep(({ body: { intentId: _, cardId: __, challenge, url, ...request } }) => ({
    request: merchantRequest({ ...request, url: askedUrl(url, challenge) }),
    challenge,
  })),
  call: (reservation, outside) => call(reservation as Reservation, outside),
  together: (answer, reservation) => (isMinted(answer, reservation) ? mintAndShow : undefined),
  async record(answer, reserved, { refuse }) {
    const { code, message } = problemOf(answer, reserved as Asking | GivingBack)
    return refuse(code, message)
  },
  async recover(stored, { refuse }) {
    const reservation = stored as StoredReservation
    return reservation.stage === 'give back'
      ? refuse(reservation.problem.code, reservation.problem.message)
      : refuse('pay_interrupted')
  },
}

const headerName = (header: string): string =>
  header === 'authorization' ? 'Authorization' : 'Payment-Authorization'
