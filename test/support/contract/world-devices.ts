import { areas } from '../../../src/areas.ts'
import { client } from '../../../src/derive/client.ts'
import { bodyOf } from '../factories.ts'
import { type SignedIn, signedInBy, signIn, signInWith } from '../identity/console.ts'
import { aDevice, consentTo, letIn } from '../identity/devices.ts'
import { firstDevice, type Make, type WorldService } from './world-passkeys.ts'

const begin = ({ url }: WorldService) => aDevice(client(areas, { url }))

/** The first owner of the account, signed in by passkey. */
async function firstOwner(make: Make, service: WorldService): Promise<SignedIn> {
  const device = await firstDevice(make, service)
  return signedInBy(service.url, await signIn(service.url, await signInWith(service.url, device)))
}

/** What the browser of the first owner sends. */
export const byFirstOwner = async (make: Make, _path: string, service: WorldService) =>
  (await firstOwner(make, service)).headers

/** The body that names a device which waits. */
export const aWaitingCode = async (_make: Make, _path: string, service: WorldService) => ({
  userCode: (await begin(service)).userCode,
})

/** The body by which the first owner lets a device in. */
export async function aCodeWithConsent(make: Make, _path: string, service: WorldService) {
  const { userCode } = await begin(service)
  const owner = await firstOwner(make, service)
  const webauthnAssertion = await consentTo(owner.client, await firstDevice(make, service), userCode)
  return { userCode, webauthnAssertion }
}

/** A device that was let in: its code, and its session. */
export async function aDeviceLetIn(make: Make, service: WorldService) {
  const { deviceCode, userCode } = await begin(service)
  const owner = await firstOwner(make, service)
  const { id } = await bodyOf(letIn(owner.client, await firstDevice(make, service), userCode))
  return { deviceCode, id }
}

/** The body by which a device that was let in fetches its key. */
export const aFetchedDeviceCode = async (make: Make, _path: string, service: WorldService) => ({
  deviceCode: (await aDeviceLetIn(make, service)).deviceCode,
})
