import type { AcceptedToken, Acquirer, Charge, ChargeOutcome, RefusedToken } from '../../ports/acquirer.ts'
import { cardOf, type Secrets, tokenOf } from '../card-processor/sandbox-numbers.ts'
import { openCryptogram, type SealedToken } from '../card-processor/sandbox-seal.ts'
import { type CardToken, cardTokenOf } from './card-token.ts'
import { chargeByNetwork, refundByNetwork, type SandboxNetwork } from './sandbox-network.ts'
import { acceptTestToken, testTokenOf } from './test-tokens.ts'

const UNKNOWN: RefusedToken = {
  refused:
    'The sandbox takes the tokens of its own cards and its documented test tokens, and this is neither.',
}

const NOT_THIS: ChargeOutcome = {
  outcome: 'declined',
  code: 'other_token',
  reason: 'The token is not the one that was accepted for this charge.',
}

const NOT_CHARGED: ChargeOutcome = {
  outcome: 'declined',
  code: 'not_charged',
  reason: 'Nothing was charged that could be given back.',
}

/**
 * A simulated acquirer, which keeps nothing. It charges the cards of our own sandbox by messages to their issuer, as the
 * card network would, and answers about the test tokens by a table.
 */
export function sandboxAcquirer(secrets: Secrets, network: SandboxNetwork): Acquirer {
  const accept = (token: unknown) => acceptedBy(secrets, token)
  const chargeOwn = (charge: Charge, call: Parameters<Acquirer['charge']>[1]): Promise<ChargeOutcome> =>
    chargeByNetwork(network, ownTokenOf(charge.handle), charge, call)
  return {
    name: 'sandbox',
    networks: ['visa', 'mastercard'],
    accept,
    async charge({ token, ...charge }, call) {
      const accepted = accept(token)
      if (!('handle' in accepted) || accepted.handle !== charge.handle) return NOT_THIS
      return testTokenOf(charge.handle, call.now)?.charged ?? chargeOwn(charge, call)
    },
    stateOf: async (charge, call) => testTokenOf(charge.handle, call.now)?.known ?? chargeOwn(charge, call),
    async refund(refund, call) {
      const test = testTokenOf(refund.handle, call.now)
      if (test) return test.known.outcome === 'declined' ? NOT_CHARGED : test.known
      return refundByNetwork(network, ownTokenOf(refund.handle), refund, call)
    },
  }
}

function acceptedBy(secrets: Secrets, plain: unknown): AcceptedToken | RefusedToken {
  const token = cardTokenOf(plain)
  if ('refused' in token) return token
  return acceptTestToken(token) ?? acceptOwn(secrets, token) ?? UNKNOWN
}

const OWN = /^sandbox (?<processorCardId>\S+) (?<tokenId>\S+)$/

/** The number and the cryptogram must be of one token, on a card of the sandbox. */
function acceptOwn(secrets: Secrets, { number, cryptogram }: CardToken): AcceptedToken | null {
  const names = openCryptogram(secrets, cryptogram)
  if (!names || !cardOf(secrets, names.processorCardId)) return null
  if (tokenOf(secrets, names.tokenId)?.number !== number) return null
  const { processorCardId, tokenId } = names
  return { handle: `sandbox ${processorCardId} ${tokenId}`, network: 'visa', last4: number.slice(-4) }
}

function ownTokenOf(handle: string): SealedToken {
  const { processorCardId, tokenId } = OWN.exec(handle)?.groups ?? {}
  if (!processorCardId || !tokenId) throw new Error('a handle that the sandbox has not given')
  return { processorCardId, tokenId }
}
