import { randomUUID } from 'node:crypto'
import { Challenge as Peers } from 'mppx'
import { encodeChallengeRequest, parseChallenges, serializeChallenge } from '../../../src/mpp/index.ts'
import { usualOrShort } from '../short.ts'

const MEASURED_MS = usualOrShort(700, 100)

/** Microseconds of one call, the best of three rounds. */
function microseconds(work: () => unknown): number {
  const round = () => {
    const began = performance.now()
    let count = 0
    while (performance.now() - began < MEASURED_MS) {
      for (let n = 0; n < 20; n++) work()
      count += 20
    }
    return ((performance.now() - began) * 1_000) / count
  }
  return Math.min(round(), round(), round())
}

const jwk = { kty: 'RSA', n: 'x'.repeat(342), e: 'AQAB', use: 'enc', alg: 'RSA-OAEP-256', kid: 'key-1' }
const challenge = {
  id: randomUUID(),
  realm: 'shop.example.com',
  method: 'card',
  intent: 'charge',
  request: encodeChallengeRequest({
    amount: '950',
    currency: 'eur',
    methodDetails: { acceptedNetworks: ['visa'], merchantName: 'Shop', encryptionJwk: jwk },
  }),
  expires: '2099-11-21T12:00:00.000Z',
}

/** Texts that make careless parsers slow, of about this many bytes. */
const hostile: Readonly<Record<string, (bytes: number) => string>> = {
  'an open quote': bytes => `Payment id="${'\\'.repeat(bytes)}`,
  'many commas': bytes => `Payment id="a"${','.repeat(bytes)}`,
  'many parameters': bytes => `Payment ${'a="b", '.repeat(bytes / 7)}`,
  'many schemes': bytes => 'Payment '.repeat(bytes / 8),
  'blanks and quotes': bytes => `Payment ${' "'.repeat(bytes / 2)}`,
  'equals signs': bytes => `Payment ${'='.repeat(bytes)}`,
}

export interface Parsing {
  readonly ours: number
  readonly mppx: number
  readonly hostile: readonly { readonly name: string; readonly small: number; readonly large: number }[]
}

/** One challenge by us and by mppx; and 16 KiB against 1 KiB of each hostile text. */
export function measureParsing(): Parsing {
  const header = serializeChallenge(challenge)
  return {
    ours: microseconds(() => parseChallenges([header])),
    mppx: microseconds(() => Peers.deserializeList(header)),
    hostile: Object.entries(hostile).map(([name, textOf]) => ({
      name,
      small: microseconds(() => parseChallenges([textOf(1_024)])),
      large: microseconds(() => parseChallenges([textOf(16_384)])),
    })),
  }
}
