import { z } from 'zod'
import {
  type CardMessage,
  type CardProcessor,
  type CardReply,
  type Done,
  type IssuedCard,
  isFailure,
  type NewCard,
  type ProcessorAnswer,
  type ProcessorCall,
  type ProcessorFailure,
  type SignedMessage,
} from '../../ports/card-processor.ts'
import { encrypt, encryptForMachine } from './encrypt.ts'
import { sandboxDisputes } from './sandbox-disputes.ts'
import { failureNoted, faultNoted, type SandboxCall } from './sandbox-faults.ts'
import {
  cardIdFor,
  cardOf,
  type SandboxCard,
  type Secrets,
  sealedCryptogram,
  tokenIdFor,
  tokenOf,
} from './sandbox-numbers.ts'
import { type Deliver, sandboxRefunds } from './sandbox-refunds.ts'
import { hasSignature, signatureHeaders, signatureProblem } from './sandbox-signature.ts'
import { centsText, parsed, written } from './sandbox-wire.ts'

interface SandboxSecrets {
  readonly numbers: Secrets
  readonly messages: Secrets
}

const DONE: Done = { done: true }

const UNKNOWN_CARD: ProcessorFailure = {
  failure: 'refused',
  code: 'unknown_card',
  message: 'The sandbox has not issued this card.',
}

const UNKNOWN_TOKEN: ProcessorFailure = {
  failure: 'refused',
  code: 'unknown_token',
  message: 'The sandbox has not issued this network token.',
}

/**
 * A simulated processor. It stores nothing: cards and tokens are derived from the references by which they
 * were made.
 */
export const sandboxProcessor = (
  { numbers, messages }: SandboxSecrets,
  deliver: Deliver = async () => null,
): CardProcessor => ({
  name: 'sandbox',
  ...cards(numbers),
  ephemeralKey: null,
  ...networkTokens(numbers),
  pushRefund: sandboxRefunds(message => signedMessage(messages, message), deliver),
  disputes: sandboxDisputes(numbers),
  recognizes: hasSignature,
  read(body, headers, now) {
    const unsigned = signatureProblem(messages, body, headers, now)
    if (unsigned) return { kind: 'unsigned', reason: unsigned }
    const message = parsed(body)
    return 'problem' in message
      ? { kind: 'unreadable', reason: message.problem }
      : { kind: 'message', message }
  },
  answer,
  sign: message => signedMessage(messages, message),
  replyIn,
})

type Cards = Pick<CardProcessor, 'issue' | 'setState' | 'setControls' | 'replace' | 'disclose'>

function cards(secrets: Secrets): Cards {
  const acknowledging =
    (call: SandboxCall) =>
    async (id: string, _: unknown, { now }: ProcessorCall) =>
      failureFor(cardOf(secrets, id), call, now) ?? DONE
  return {
    issue: async (card, call) => issue(secrets, card, call),
    setState: acknowledging('state'),
    setControls: acknowledging('controls'),
    replace: async (id, card, call) =>
      failureFor(cardOf(secrets, id), 'replace', call.now) ?? issue(secrets, card, call),
    async disclose(id, recipient, { now }) {
      const card = cardOf(secrets, id)
      if (!card) return UNKNOWN_CARD
      return failureFor(card, 'disclose', now) ?? encrypt(card.data, recipient)
    },
  }
}

function issue(
  secrets: Secrets,
  { displayName, requestedAt }: NewCard,
  { reference, now }: ProcessorCall,
): IssuedCard | ProcessorFailure {
  const id = cardIdFor(secrets, reference, requestedAt, faultNoted(displayName, requestedAt))
  const card = cardOf(secrets, id)
  if (!card) return UNKNOWN_CARD
  const { number, expMonth, expYear } = card.data
  const issued = { processorCardId: id, brand: 'sandbox', last4: number.slice(-4), expMonth, expYear }
  return failureFor(card, 'issue', now) ?? issued
}

type NetworkTokens = Pick<CardProcessor, 'tokenNetworks' | 'networkToken' | 'setNetworkToken'>

const NETWORK = 'visa'

const networkTokens = (secrets: Secrets): NetworkTokens => ({
  tokenNetworks: [NETWORK],
  async networkToken({ processorCardId, expiresAt, form }, recipient, { reference, now }) {
    const card = cardOf(secrets, processorCardId)
    if (!card) return UNKNOWN_CARD
    const tokenId = tokenIdFor(secrets, reference, card)
    const token = tokenOf(secrets, tokenId)
    if (!token) return UNKNOWN_TOKEN
    const { expMonth, expYear } = card.data
    const { number } = token
    const cryptogram = form ? sealedCryptogram(secrets, { processorCardId, tokenId }) : token.cryptogram
    const data = { number, expMonth, expYear, cryptogram }
    const disclosure =
      failureFor(card, 'token', now) ??
      (await (form ? encryptForMachine(data, recipient, form, expiresAt) : encrypt(data, recipient)))
    if (isFailure(disclosure)) return disclosure
    return { ...disclosure, tokenId, last4: number.slice(-4), network: NETWORK, expMonth, expYear }
  },
  async setNetworkToken(tokenId, _, { now }) {
    const token = tokenOf(secrets, tokenId)
    return token ? (failureNoted(token.faultNote, 'state', now) ?? DONE) : UNKNOWN_TOKEN
  },
})

const failureFor = (card: SandboxCard | null, call: SandboxCall, now: Date): ProcessorFailure | null =>
  card ? failureNoted(card.faultNote, call, now) : UNKNOWN_CARD

function signedMessage(secrets: Secrets, message: CardMessage): SignedMessage {
  const body = written(message)
  return { headers: { 'content-type': 'application/json', ...signatureHeaders(secrets, body) }, body }
}

const Answer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('approved'), approvedCents: centsText, askedCents: centsText }),
  z.strictObject({ kind: z.literal('declined'), reason: z.string() }),
  z.strictObject({ kind: z.literal('noted') }),
])

const wireOf = (reply: CardReply): z.output<typeof Answer> =>
  reply.kind === 'approved'
    ? { kind: 'approved', approvedCents: reply.approvedCents, askedCents: reply.askedCents }
    : reply

const answer = (_message: CardMessage, reply: CardReply): ProcessorAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(z.encode(Answer, wireOf(reply))),
})

export function replyIn({ body }: ProcessorAnswer): CardReply {
  const wire = z.decode(Answer, JSON.parse(body))
  return wire.kind === 'approved'
    ? { kind: 'approved', approvedCents: wire.approvedCents, askedCents: wire.askedCents }
    : wire
}
