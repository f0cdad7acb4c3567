import { expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { aDevice, letIn } from '../../support/identity/devices.ts'
import { aDoorkeeper } from '../../support/identity/pairing.ts'
import { assertion } from '../../support/identity/people.ts'
import { anActiveDevice, anyone, ask, service } from './service.ts'

/** An owner with a device and a console session, and a viewer of the account whose device has all rights of the role. */
async function aViewersDevice() {
  const { owner, person, session } = await anActiveDevice()
  const viewer = await aDoorkeeper(service, owner, { role: 'viewer', by: person })
  const device = await aDevice(anyone)
  const { id } = await bodyOf(letIn(viewer.console.client, viewer.device, device.userCode))
  const { key } = await bodyOf(ask(device))
  return { owner, person, session, viewer, ownSessionId: id, client: service.client(String(key)) }
}

test('the key of a viewer’s device revokes and renames no passkey of another person', async () => {
  const { person, viewer, client } = await aViewersDevice()
  const params = { id: person.passkeyId }
  const revocation = { purpose: 'revocation', subject: person.passkeyId } as const
  const webauthnAssertion = await assertion(client, viewer, revocation)
  for (const attempt of [
    await client.passkeys.revoke({ params, body: { webauthnAssertion } }),
    await client.passkeys.rename({ params, body: { name: 'Mine' } }),
    await client.passkeys.registerOptions({ body: { personId: person.personId } }),
  ])
    expect(attempt).toMatchObject({ status: 403, code: 'not_passkey_owner' })
  const own = { params: { id: viewer.passkeyId }, body: { name: 'Mine' } }
  expect((await client.passkeys.rename(own)).status).toBe(200)
})

test('the key of a viewer’s device sees and ends the viewer’s own sessions only', async () => {
  const { owner, person, session, viewer, ownSessionId, client } = await aViewersDevice()
  const ofConsole = (await bodyOf(client.console.sessions())).data
  expect(ofConsole.map(({ personId }) => personId)).toEqual([viewer.personId])
  expect((await bodyOf(client.sessions.list())).data.map(({ id }) => id)).toEqual([ownSessionId])
  const ended = await client.console.endSession({ params: { id: person.console.sessionId } })
  expect(ended).toMatchObject({ status: 404, code: 'session_not_found' })
  expect((await client.sessions.get({ params: { id: session.id } })).status).toBe(404)
  expect((await client.sessions.revoke({ params: { id: session.id } })).status).toBe(404)
  expect((await person.console.client.console.session()).status).toBe(200)
  const all = (await bodyOf(owner.client.console.sessions())).data
  expect(all.map(({ personId }) => personId)).toContain(person.personId)
  expect((await client.console.endSession({ params: { id: viewer.console.sessionId } })).status).toBe(200)
})
