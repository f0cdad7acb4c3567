import { runCommand } from '../support/command.ts'
import { startTestService } from '../support/harness.ts'
import { aConfiguration } from '../support/identity/key-files.ts'
import { aDoorkeeper, approvePairing } from '../support/identity/pairing.ts'

export const service = await startTestService()

/** An owner with a passkey in the console, and a machine without a sign-in. */
export async function aNewMachine() {
  const owner = await service.owner()
  const person = await aDoorkeeper(service, owner)
  return { owner, person, machine: aConfiguration() }
}

export type Machine = Awaited<ReturnType<typeof aNewMachine>>

export const codeIn = (text: string): string => /\/cli\/([\w-]{43})/.exec(text)?.[1] ?? ''

/** Signs in; the person decides while the command waits. */
export async function login(
  { machine }: Pick<Machine, 'machine'>,
  argv: readonly string[],
  decide: (code: string) => Promise<unknown>,
) {
  let shown = ''
  let waits = 0
  const ran = await runCommand(['login', '--no-browser', ...argv], {
    env: { ...machine.env, AGENTPAY_URL: service.url },
    onError: text => {
      shown += text
    },
    wait: async () => {
      waits += 1
      // The first poll precedes the decision.
      if (waits === 2) await decide(codeIn(shown))
    },
  })
  return { ...ran, waits }
}

export const signIn = (made: Machine, argv: readonly string[] = []) =>
  login(made, argv, code => approvePairing(made.person.console.client, made.person.device, code))
