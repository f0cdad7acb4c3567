import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aDoorkeeper, approvePairing, aTerminal, type Terminal } from '../../support/identity/pairing.ts'

/** The service of all pairing tests, with two processes. */
export const service = await startTestService({ own: true })
export const otherProcess = await service.another()

/** A client without a credential, as a terminal is at first. */
export const anyone = service.client()

export const ask = ({ code, codeVerifier }: Pick<Terminal, 'code' | 'codeVerifier'>, client = anyone) =>
  client.cliAuth.token({ body: { code, codeVerifier } })

/** An owner of a new account with a passkey in the console, and a waiting terminal. */
export async function aWaitingTerminal() {
  const owner = await service.owner()
  const person = await aDoorkeeper(service, owner)
  return { owner, person, terminal: await aTerminal(anyone) }
}

/** The same, approved, before the terminal has asked. */
export async function anApprovedTerminal() {
  const waiting = await aWaitingTerminal()
  const { person, terminal } = waiting
  await bodyOf(approvePairing(person.console.client, person.device, terminal.code))
  return waiting
}

/** Lets the five minutes of a terminal pass. */
export const expire = ({ pairingCode }: Pick<Terminal, 'pairingCode'>) =>
  service.sql(
    `update sessions set created_at = created_at - interval '10 minutes', ends_at = ends_at - interval '10 minutes'
     where pairing_code = $1`,
    [pairingCode],
  )
