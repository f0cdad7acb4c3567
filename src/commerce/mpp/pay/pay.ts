import { NextCall } from '../../../kernel/contract/handlers.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { parseChallenges } from '../../../mpp/index.ts'
import type { Done, ProcessorFailure } from '../../../ports/card-processor.ts'
import type { mppApi } from '../api.ts'
import { headersBeside, merchantRequest } from '../merchant-request.ts'
import { askAndMint, type Minted } from './ask.ts'
import { commitMint, isGivenBack } from './commit.ts'
import type { Outside } from './outside.ts'
import {
  Asking,
  type GivingBack,
  isProblem,
  type PayProblem,
  Sending,
  type StoredReservation,
} from './reservation.ts'
import { reserve } from './reserve.ts'
import { recordSent, recoverSent, type Sent, send } from './send.ts'

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

type PayContext = ContextOf<typeof mppApi.pay>

/** The commit before the first byte of the credential: what leaves is on record. */
async function recordMinted(minted: Minted | PayProblem, asking: Asking, context: PayContext) {
  if (isProblem(minted)) return context.refuse(minted.code, minted.message)
  const committed = await commitMint(minted, asking, 'service', context)
  if (isGivenBack(committed)) return new NextCall<Reservation>(committed)
  const { request } = asking
  const headers = { ...headersBeside(request.headers, minted.header), [minted.header]: minted.credential }
  return new NextCall<Reservation>(new Sending(committed.id, committed.mode, { ...request, headers }))
}

/** Asks, mints and commits, sends, records: each commit says what a crash after it means. */
export const pay: HandlerOf<typeof mppApi.pay> = {
  reserve: ({ body: { intentId, cardId, ...request } }, context) =>
    reserve({ intentId, cardId }, merchantRequest(request), null, context),
  call: (reservation, outside) => call(reservation as Reservation, outside),
  async record(answer, reserved, context) {
    const reservation = reserved as Reservation
    if (reservation instanceof Asking)
      return recordMinted(answer as Minted | PayProblem, reservation, context)
    if (reservation instanceof Sending) return recordSent(answer as Sent, reservation.credentialId, context)
    return context.refuse(reservation.problem.code, reservation.problem.message)
  },
  async recover(stored, context) {
    const reservation = stored as StoredReservation
    if (reservation.stage === 'send') return recoverSent(reservation.credentialId, context)
    if (reservation.stage === 'ask') return context.refuse('pay_interrupted')
    return context.refuse(reservation.problem.code, reservation.problem.message)
  },
}

/** The address that was asked: the caller's word, or that of the challenge. */
function askedUrl(url: string | undefined, challenge: string): string {
  const [first] = parseChallenges([challenge]).challenges
  return url ?? `https://${first?.realm ?? ''}`
}

/** Mints without sending: the caller is shown the credential, once. */
export const mint: HandlerOf<typeof mppApi.mint> = {
  reserve({ body: { intentId, cardId, challenge, url, ...request } }, context) {
    const asked = merchantRequest({ ...request, url: askedUrl(url, challenge) })
    return reserve({ intentId, cardId }, asked, challenge, context)
  },
  call: (reservation, outside) => call(reservation as Reservation, outside),
  async record(answer, reserved, context) {
    const reservation = reserved as Reservation
    if (!(reservation instanceof Asking)) {
      const { problem } = reservation as GivingBack
      return context.refuse(problem.code, problem.message)
    }
    const minted = answer as Minted | PayProblem
    if (isProblem(minted)) return context.refuse(minted.code, minted.message)
    const committed = await commitMint(minted, reservation, 'caller', context)
    if (isGivenBack(committed)) return new NextCall<Reservation>(committed)
    return withMembers(committed, { header: headerName(minted.header), credential: minted.credential })
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
