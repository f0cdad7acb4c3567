import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { oauthErrors } from '../../kernel/contract/oauth-errors.ts'
import type { Failure } from '../../kernel/contract/operation.ts'
import { scopes } from '../../kernel/contract/scopes.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { type CliPairing, pairingMachine } from './pairing.ts'

export const code = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'Of `POST /cli/auth/start`; it stands in the address of the page.' })

export const pairingCode = z.string().meta({
  description:
    'The terminal and the page show it: it is the same on both, or the page is of somebody else’s terminal.',
  examples: ['WDJB-MJHT'],
})

export const PairingRecord = z
  .object({
    id: id('pairing'),
    status: z.enum(pairingMachine.states).meta({
      description:
        '`pending` until a person decides, `approved` until the terminal has fetched its key; `void` after a wrong verifier.',
    }),
    deviceName: z.string(),
    pairingCode,
    address: z
      .string()
      .nullable()
      .meta({ description: 'Where the terminal asked from.', examples: ['203.0.113.7'] }),
    scopes: z
      .array(z.enum(scopes))
      .nullable()
      .meta({ description: 'What the key will be allowed, once approved. Null: all that there is.' }),
    toolWrites: z
      .boolean()
      .meta({ description: 'Whether the key will change things by the tools of an assistant.' }),
    personId: id('person').nullable().meta({ description: 'Who has decided.' }),
    decidedAt: instant.nullable(),
    expiresAt: instant,
    createdAt: instant,
  })
  .meta({ id: 'CliPairing' })

const PairingEvent = z.object({ pairingId: id('pairing'), deviceName: z.string().max(100) })
const DecidedEvent = PairingEvent.extend({ personId: id('person') })

export const cliEvents = {
  'cli.requested': event(
    'A command line has begun to sign in. Nobody knows yet to which account: it is told to the operator alone.',
    PairingEvent,
  ),
  'cli.approved': event('A person has let a command line in with a passkey.', DecidedEvent),
  'cli.denied': event('A person has turned a command line away.', DecidedEvent),
  'cli.failed': event(
    'Somebody asked for the key of a command line without its verifier. The code is dead, and nobody gets a key.',
    PairingEvent.extend({ personId: id('person').nullable() }),
  ),
  'cli.paired': event(
    'A command line has fetched the key that a person has approved with a passkey.',
    DecidedEvent.extend({ keyId: id('key') }),
  ),
}

export const pairingEvent = ({ id: pairingId, deviceName }: Pick<CliPairing, 'id' | 'deviceName'>) => ({
  pairingId,
  deviceName,
})

/** The refusals of a person's decision. */
export const pairingFails = {
  pairing_not_found: [
    404,
    'No terminal waits under this code. Compare the address with the one that it shows.',
  ],
  pairing_decided: [
    400,
    'This is decided already, or the terminal has given up. Begin again in the terminal.',
  ],
  pairing_expired: [410, 'The code has ended, after five minutes. Begin again in the terminal.'],
} as const satisfies Record<string, Failure>

const { authorization_pending, access_denied, expired_token, invalid_grant } = oauthErrors

/** The refusals of the terminal. */
export const tokenFails = { authorization_pending, access_denied, expired_token, invalid_grant }
