import { aPerson } from '../identity/people.ts'
import { firstDevice, type Make, overLinked, type WorldService } from './world-passkeys.ts'

/** A change of a policy that two owners must approve, of whom none has. Earlier ones make room. */
export async function aChangeRequest(make: Make, service: WorldService): Promise<string> {
  const { id: ownerId } = await make('GET', '/customers/me')
  await firstDevice(make, service)
  await aPerson(service, { ownerId })
  const { data } = await make('GET', '/change-requests?status=waiting&limit=100')
  for (const { id } of data) await make('POST', `/change-requests/${id}/reject`, { reason: 'Replaced' })
  const step = { aboveEuros: 0, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' }
  const rules = { name: 'Books', approval: [step] }
  const { id } = await make('POST', '/policies', { ...rules, dailyLimitEuros: 50 })
  return (await make('PUT', `/policies/${id}`, { ...rules, dailyLimitEuros: 70 })).id
}

export async function aSignedChangeRequest(make: Make, path: string, service: WorldService) {
  const device = await firstDevice(make, service)
  return { webauthnAssertion: await overLinked(make, device, path, {}) }
}
