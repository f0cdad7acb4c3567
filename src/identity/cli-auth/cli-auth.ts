import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { minutes } from '../../values/clock.ts'
import { cliAuthApi } from './api.ts'
import { approve, challenge, deny } from './decide.ts'
import { CliPairing, pairingMachine } from './pairing.ts'
import { cliAuthPersonal } from './personal.ts'
import { start } from './start.ts'
import { token } from './token.ts'

/** For an hour, whoever comes too late is told so. */
const KEPT_FOR_MS = minutes(60)

const cliAuth = implement(cliAuthApi, { challenge, approve, deny, start, token })

export const cliAuthArea = area(
  'CLI Auth',
  'How a command line gets a key: a person compares a code in the browser, and approves with a passkey.',
  cliAuth,
  {
    personal: cliAuthPersonal,
    entities: [CliPairing],
    machines: [pairingMachine],
    expiring: [{ table: 'cli_pairings', column: 'expires_at', keptMs: KEPT_FOR_MS }],
  },
)
