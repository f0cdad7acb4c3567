import {
  type CardMessage,
  type CardProcessor,
  type Done,
  isFailure,
  type NewCard,
  type ProcessorCall,
  type ProcessorFailure,
  type SignedMessage,
} from '../../ports/card-processor.ts'
import { encrypt } from './encrypt.ts'
import { answer } from './sandbox-answer.ts'
import { cardIdFor, cardOf, issuedCard, isTokenId, tokenIdFor, tokenOf } from './sandbox-numbers.ts'
import { hasSignature, signatureHeaders, signatureProblem } from './sandbox-signature.ts'
import { parsed, written } from './sandbox-wire.ts'

/** The secrets of an installation: the current one first, then those that it was before. */
export interface SandboxSecrets {
  readonly numbers: readonly Buffer[]
  readonly messages: readonly Buffer[]
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

/** A simulated processor. It stores nothing: cards and tokens are derived from the references by which they were made. */
export const sandboxProcessor = ({ numbers, messages }: SandboxSecrets): CardProcessor => ({
  name: 'sandbox',
  ...cards(numbers),
  ...networkTokens(numbers),
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
})

type Cards = Pick<CardProcessor, 'issue' | 'setState' | 'setControls' | 'replace' | 'disclose'>

function cards(secrets: readonly Buffer[]): Cards {
  const issue = async ({ requestedAt }: NewCard, { reference }: ProcessorCall) =>
    issuedCard(secrets, cardIdFor(secrets, reference, requestedAt)) ?? UNKNOWN_CARD
  const acknowledge = async (processorCardId: string) =>
    cardOf(secrets, processorCardId) ? DONE : UNKNOWN_CARD
  return {
    issue,
    setState: acknowledge,
    setControls: acknowledge,
    replace: async (processorCardId, card, call) =>
      cardOf(secrets, processorCardId) ? issue(card, call) : UNKNOWN_CARD,
    async disclose(processorCardId, recipient) {
      const card = cardOf(secrets, processorCardId)
      return card ? encrypt(card, recipient) : UNKNOWN_CARD
    },
  }
}

type NetworkTokens = Pick<CardProcessor, 'networkToken' | 'setNetworkToken'>

const networkTokens = (secrets: readonly Buffer[]): NetworkTokens => ({
  async networkToken({ processorCardId }, recipient, { reference }) {
    const tokenId = tokenIdFor(secrets, reference)
    const card = cardOf(secrets, processorCardId)
    const token = card && tokenOf(secrets, tokenId, card)
    if (!token) return UNKNOWN_CARD
    const disclosure = await encrypt(token, recipient)
    return isFailure(disclosure) ? disclosure : { ...disclosure, tokenId, last4: token.number.slice(-4) }
  },
  setNetworkToken: async tokenId => (isTokenId(secrets, tokenId) ? DONE : UNKNOWN_TOKEN),
})

function signedMessage(secrets: readonly Buffer[], message: CardMessage): SignedMessage {
  const body = written(message)
  return { headers: { 'content-type': 'application/json', ...signatureHeaders(secrets, body) }, body }
}
