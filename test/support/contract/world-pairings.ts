import { clientAt } from '../client.ts'
import { bodyOf } from '../factories.ts'
import { type SignedIn, signedInBy, signIn, signInWith } from '../identity/console.ts'
import { approvePairing, aTerminal } from '../identity/pairing.ts'
import { signed } from '../identity/people.ts'
import { firstDevice, type Make, type WorldService } from './world-passkeys.ts'

const begin = ({ url }: WorldService) => aTerminal(clientAt({ url }))

export async function doorkeeperOf(make: Make, service: WorldService): Promise<SignedIn> {
  const device = await firstDevice(make, service)
  return signedInBy(service.url, await signIn(service.url, await signInWith(service.url, device)))
}

export const aWaitingCode = async (_make: Make, _path: string, service: WorldService) => ({
  code: (await begin(service)).code,
})

export async function anApprovedCode(make: Make, _path: string, service: WorldService) {
  const { code } = await begin(service)
  const owner = await doorkeeperOf(make, service)
  const challenge = await bodyOf(owner.client.cliAuth.challenge({ body: { code } }))
  return { code, webauthnAssertion: signed(challenge, await firstDevice(make, service)) }
}

export async function aFetchedCode(make: Make, _path: string, service: WorldService) {
  const { code, codeVerifier } = await begin(service)
  const owner = await doorkeeperOf(make, service)
  await bodyOf(approvePairing(owner.client, await firstDevice(make, service), code))
  return { code, codeVerifier }
}
