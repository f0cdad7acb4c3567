import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { hashOf, newSecret } from '../../kernel/database/credential.ts'
import { after, clock, minutes } from '../../values/clock.ts'
import { newLetterCode } from '../../values/letter-code.ts'
import { cliAuthApi } from './api.ts'
import { approve, challenge, deny } from './decide.ts'
import { CliPairing, CODE_LASTS_MS, INTERVAL_S, pairingMachine, platform } from './pairing.ts'
import { pairingEvent } from './schemas.ts'
import { token } from './token.ts'

/** For an hour, whoever comes too late is told so. */
const KEPT_FOR_MS = minutes(60)

const cliAuth = implement(cliAuthApi, {
  challenge,
  approve,
  deny,
  token,

  start({ body: { codeChallenge, deviceName } }, { records, actFor, address, ports, emit }) {
    const now = clock.real()
    actFor(platform, now)
    const code = newSecret('')
    const pairing = records.create(CliPairing, {
      createdAt: now,
      expiresAt: after(now, CODE_LASTS_MS),
      hash: hashOf(code),
      codeChallenge,
      deviceName,
      address,
      pairingCode: newLetterCode(),
    })
    emit('cli.requested', pairingEvent(pairing))
    const { pairingCode } = pairing
    const url = ports.pageUrl(`/cli/${code}`)
    return { code, pairingCode, url, expiresIn: CODE_LASTS_MS / 1_000, interval: INTERVAL_S }
  },
})

export const cliAuthArea = area(
  'CLI Auth',
  'How a command line gets a key: a person compares a code in the browser, and approves with a passkey.',
  cliAuth,
  {
    entities: [CliPairing],
    machines: [pairingMachine],
    expiring: [{ table: 'cli_pairings', column: 'expires_at', keptMs: KEPT_FOR_MS }],
  },
)
