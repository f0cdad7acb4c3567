import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../src/areas.ts'
import { allOperations } from '../../src/kernel/contract/area.ts'
import {
  isWritingOperation,
  type RegisteredOperation,
  repeatsForCaller,
  takesIdempotencyKey,
} from '../../src/kernel/contract/operation.ts'
import { type Hidden, hiddenIn } from '../../src/kernel/run/outcome.ts'

// What is stored under an Idempotency-Key lies open for a day. So each answer is asked twice: does it hold in clear
// what is sealed, or kept as a digest, elsewhere; and who may read it again?

const stored = allOperations(areas).filter(
  ({ operation }) =>
    takesIdempotencyKey(operation) && isWritingOperation(operation) && operation.callers.length > 0,
)

interface Json {
  readonly properties?: Record<string, Json>
  readonly items?: Json
  readonly anyOf?: Json[]
  readonly allOf?: Json[]
  readonly oneOf?: Json[]
  readonly $ref?: string
  readonly $defs?: Record<string, Json>
}

/** All members of an answer, by their paths; records in it are followed. */
function membersOf(schema: Json, defs = schema.$defs ?? {}, open: readonly string[] = []): string[][] {
  const { properties = {}, items, anyOf = [], allOf = [], oneOf = [], $ref } = schema
  const name = $ref?.split('/').at(-1)
  const named = name !== undefined && !open.includes(name) ? defs[name] : undefined
  const below = [...anyOf, ...allOf, ...oneOf, ...(items ? [items] : []), ...(named ? [named] : [])]
  const within = name === undefined ? open : [...open, name]
  return [
    ...Object.entries(properties).flatMap(([member, inner]) => [
      [member],
      ...membersOf(inner, defs, within).map(path => [member, ...path]),
    ]),
    ...below.flatMap(one => membersOf(one, defs, within)),
  ]
}

const isHidden = (hidden: Hidden | undefined, [member, ...rest]: readonly string[]): boolean =>
  typeof hidden === 'string' ||
  (member !== undefined && hidden !== undefined && isHidden(hidden[member], rest))

const SECRET =
  /(key|token|secret|jwe|cvc|pan|password|code|hash|auth|credential|merchant_body|joinUrl|redirectTo)$/i

/** Members with such a name that are no secret, or that are open elsewhere as well, with the reason. */
const OPEN: Readonly<Record<string, string>> = {
  postalCode: 'a part of an address',
  reasonCode: 'of a bank’s message',
  'reason.code': 'why something ended',
  'rejection.code': 'why something ended',
  'failure.code': 'why something ended',
  'refusal.code': 'why something ended',
  'payeeCheck.code': 'what the payee’s bank says',
  'answer.code': 'what the other bank says',
  publicKey: 'is public',
  residentKey: 'an option of a passkey',
  requireResidentKey: 'an option of a passkey',
  takesPasskey: 'yes or no',
  nextSecret: 'hint and date of the secret that takes over',
  pairingCode: 'people compare it: the terminal and the page show it',
  'sessions.lookup userCode':
    'the caller has sent it; it ends with the decision, at the latest after minutes',
  'cliAuth.start code': 'gets a key only with the verifier, within five minutes, once a person has approved',
  'billing.setUpPaymentMethod token':
    'of the processor, for the owner’s keys alone; adds what the person has entered there',
}

const isOpen = (key: string, path: readonly string[]): boolean =>
  [path.slice(-1).join('.'), path.slice(-2).join('.'), `${key} ${path.join('.')}`].some(name => name in OPEN)

const answersOf = ({ operation: { returns, accepted } }: RegisteredOperation): z.ZodType[] =>
  [returns[1], accepted].filter(schema => schema !== undefined)

describe('what is stored under an Idempotency-Key', () => {
  test('holds no secret in clear', () => {
    const secrets = stored.flatMap(registered =>
      answersOf(registered).flatMap(schema =>
        membersOf(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Json)
          .filter(path => SECRET.test(path.at(-1) ?? ''))
          .filter(path => !isHidden(hiddenIn(schema), path) && !isOpen(registered.key, path))
          .map(path => `${registered.key} ${path.join('.')}`),
      ),
    )
    expect(secrets).toEqual([])
  })

  test('is repeated by the record where a part of it is sealed there', () => {
    const lacking = stored.filter(
      ({ operation, handler }) =>
        JSON.stringify(hiddenIn(operation.returns[1]) ?? {}).includes('left out') &&
        !('repeat' in (handler as object)),
    )
    expect(lacking.map(({ key }) => key)).toEqual([])
    expect(stored.filter(({ handler }) => 'repeat' in (handler as object)).map(({ key }) => key)).toEqual([
      'mpp.pay',
      'mpp.mint',
    ])
  })

  test('is for the caller alone where it asks one person, or is about a device of theirs', () => {
    expect(stored.flatMap(({ key, operation }) => (repeatsForCaller(operation) ? [key] : [])).sort()).toEqual(
      [
        'channels.create',
        'channels.verify',
        'cliAuth.challenge',
        'console.signInOptions',
        'intents.challenge',
        'mandates.options',
        'oauth.challenge',
        'passkeys.challenge',
        'passkeys.registerOptions',
        'push.create',
        'push.test',
        'sessions.challenge',
        'transfers.challenge',
      ],
    )
  })
})
