import { z } from 'zod'
import {
  CALL_DONE,
  type CardMessage,
  type CardProcessor,
  type CardReply,
  type IssuedCard,
  isProcessorFailure,
  type NewCard,
  type ProcessorAnswer,
  type ProcessorCall,
  type ProcessorFailure,
  type SharedPaymentTokens,
  type SharedTokenState,
  type SignedCardMessage,
} from '../../ports/card-processor.ts'
import { encryptCardData, encryptForMachinePayment } from './encrypt.ts'
import { sandboxDisputes } from './sandbox-disputes.ts'
import { encodeFault, injectedFailure, type SandboxProcessorCall } from './sandbox-faults.ts'
import {
  encryptCryptogram,
  type ProcessorSecrets,
  type SandboxCard,
  sandboxCardById,
  sandboxCardId,
  sandboxSharedToken,
  sandboxSharedTokenById,
  sandboxTokenById,
  sandboxTokenId,
} from './sandbox-numbers.ts'
import { type DeliverMessage, sandboxRefunds } from './sandbox-refunds.ts'
import { hasSandboxSignature, sandboxSignatureHeaders, sandboxSignatureProblem } from './sandbox-signature.ts'
import { centsText, encodeCardMessage, parseCardMessage } from './sandbox-wire.ts'

interface SandboxSecrets {
  readonly numbers: ProcessorSecrets
  readonly messages: ProcessorSecrets
}

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
  deliver: DeliverMessage = async () => null,
): CardProcessor => ({
  name: 'sandbox',
  ...cards(numbers),
  ephemeralKey: null,
  ...networkTokens(numbers),
  sharedTokens: sharedTokens(numbers),
  pushRefund: sandboxRefunds(message => signedMessage(messages, message), deliver),
  disputes: sandboxDisputes(numbers),
  recognizes: hasSandboxSignature,
  read(body, headers, now) {
    const unsigned = sandboxSignatureProblem(messages, body, headers, now)
    if (unsigned) return { kind: 'unsigned', reason: unsigned }
    const message = parseCardMessage(body)
    return 'problem' in message
      ? { kind: 'unreadable', reason: message.problem }
      : { kind: 'message', message }
  },
  answer,
  sign: message => signedMessage(messages, message),
  replyIn: decodeCardReply,
})

type Cards = Pick<CardProcessor, 'issue' | 'setState' | 'setControls' | 'replace' | 'disclose'>

function cards(secrets: ProcessorSecrets): Cards {
  const acknowledging =
    (call: SandboxProcessorCall) =>
    async (id: string, _: unknown, { now }: ProcessorCall) =>
      failureFor(sandboxCardById(secrets, id), call, now) ?? CALL_DONE
  return {
    issue: async (card, call) => issue(secrets, card, call),
    setState: acknowledging('state'),
    setControls: acknowledging('controls'),
    replace: async (id, card, call) =>
      failureFor(sandboxCardById(secrets, id), 'replace', call.now) ?? issue(secrets, card, call),
    async disclose(id, recipient, { now }) {
      const card = sandboxCardById(secrets, id)
      if (!card) return UNKNOWN_CARD
      return failureFor(card, 'disclose', now) ?? encryptCardData(card.data, recipient)
    },
  }
}

function issue(
  secrets: ProcessorSecrets,
  { displayName, requestedAt }: NewCard,
  { reference, now }: ProcessorCall,
): IssuedCard | ProcessorFailure {
  const id = sandboxCardId(secrets, reference, requestedAt, encodeFault(displayName, requestedAt))
  const card = sandboxCardById(secrets, id)
  if (!card) return UNKNOWN_CARD
  const { number, expMonth, expYear } = card.data
  const issued = { processorCardId: id, brand: 'sandbox', last4: number.slice(-4), expMonth, expYear }
  return failureFor(card, 'issue', now) ?? issued
}

type NetworkTokens = Pick<CardProcessor, 'tokenNetworks' | 'networkToken' | 'setNetworkToken'>

const NETWORK = 'visa'

const networkTokens = (secrets: ProcessorSecrets): NetworkTokens => ({
  tokenNetworks: [NETWORK],
  async networkToken({ processorCardId, expiresAt, form }, recipient, { reference, now }) {
    const card = sandboxCardById(secrets, processorCardId)
    if (!card) return UNKNOWN_CARD
    const tokenId = sandboxTokenId(secrets, reference, card)
    const token = sandboxTokenById(secrets, tokenId)
    if (!token) return UNKNOWN_TOKEN
    const { expMonth, expYear } = card.data
    const { number } = token
    const cryptogram = form ? encryptCryptogram(secrets, { processorCardId, tokenId }) : token.cryptogram
    const data = { number, expMonth, expYear, cryptogram }
    const disclosure =
      failureFor(card, 'token', now) ??
      (await (form
        ? encryptForMachinePayment(data, recipient, form, expiresAt)
        : encryptCardData(data, recipient)))
    if (isProcessorFailure(disclosure)) return disclosure
    return { ...disclosure, tokenId, last4: number.slice(-4), network: NETWORK, expMonth, expYear }
  },
  async setNetworkToken(tokenId, _, { now }) {
    const token = sandboxTokenById(secrets, tokenId)
    return token ? (injectedFailure(token.faultNote, 'state', now) ?? CALL_DONE) : UNKNOWN_TOKEN
  },
})

function sharedTokenState(tokenId: string, { faultNote }: SandboxCard, now: Date): SharedTokenState {
  if (injectedFailure(faultNote, 'confirm', now) === null) return { status: 'active' }
  const url = `https://processor.example/confirm/${tokenId.slice(-20)}`
  return { status: 'requires_action', action: { type: 'redirect', url } }
}

const sharedTokens = (secrets: ProcessorSecrets): SharedPaymentTokens => ({
  async create(order, { reference, now }) {
    const card = sandboxCardById(secrets, order.processorCardId)
    if (!card) return UNKNOWN_CARD
    const tokenId = sandboxSharedToken(secrets, reference, order)
    const { number } = card.data
    const state = sharedTokenState(tokenId, card, now)
    return failureFor(card, 'token', now) ?? { tokenId, last4: number.slice(-4), state }
  },
  async stateOf(tokenId, { now }) {
    const card = cardOfSharedToken(secrets, tokenId)
    if (!card) return UNKNOWN_TOKEN
    return failureFor(card, 'token', now) ?? sharedTokenState(tokenId, card, now)
  },
  async revoke(tokenId, { now }) {
    const card = cardOfSharedToken(secrets, tokenId)
    return card ? (injectedFailure(card.faultNote, 'state', now) ?? CALL_DONE) : UNKNOWN_TOKEN
  },
})

function cardOfSharedToken(secrets: ProcessorSecrets, tokenId: string): SandboxCard | null {
  const order = sandboxSharedTokenById(secrets, tokenId)
  return order && sandboxCardById(secrets, order.processorCardId)
}

const failureFor = (
  card: SandboxCard | null,
  call: SandboxProcessorCall,
  now: Date,
): ProcessorFailure | null => (card ? injectedFailure(card.faultNote, call, now) : UNKNOWN_CARD)

function signedMessage(secrets: ProcessorSecrets, message: CardMessage): SignedCardMessage {
  const body = encodeCardMessage(message)
  return { headers: { 'content-type': 'application/json', ...sandboxSignatureHeaders(secrets, body) }, body }
}

const Answer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('approved'), approvedCents: centsText, askedCents: centsText }),
  z.strictObject({ kind: z.literal('declined'), reason: z.string(), isLate: z.literal(true).optional() }),
  z.strictObject({ kind: z.literal('noted') }),
])

const answer = (_message: CardMessage, reply: CardReply): ProcessorAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(z.encode(Answer, reply)),
})

export const decodeCardReply = ({ body }: ProcessorAnswer): CardReply => z.decode(Answer, JSON.parse(body))
