import { clientAt } from '../client.ts'
import { bodyOf } from '../factories.ts'
import { aDevice, consentTo, letIn } from '../identity/devices.ts'
import { doorkeeperOf } from './world-pairings.ts'
import { firstDevice, type Make, type WorldService } from './world-passkeys.ts'

const begin = ({ url }: WorldService) => aDevice(clientAt({ url }))

export const aWaitingUserCode = async (_make: Make, _path: string, service: WorldService) => ({
  userCode: (await begin(service)).userCode,
})

export async function aCodeWithConsent(make: Make, _path: string, service: WorldService) {
  const { userCode } = await begin(service)
  const owner = await doorkeeperOf(make, service)
  const webauthnAssertion = await consentTo(owner.client, await firstDevice(make, service), userCode)
  return { userCode, webauthnAssertion }
}

export async function aDeviceLetIn(make: Make, service: WorldService) {
  const { deviceCode, userCode } = await begin(service)
  const owner = await doorkeeperOf(make, service)
  const { id } = await bodyOf(letIn(owner.client, await firstDevice(make, service), userCode))
  return { deviceCode, id }
}

export const aFetchedDeviceCode = async (make: Make, _path: string, service: WorldService) => ({
  deviceCode: (await aDeviceLetIn(make, service)).deviceCode,
})
