import { areas } from '../../../src/areas.ts'
import { deleteExpiredRows } from '../../../src/kernel/background/sweep.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aDevice, type Device, letIn } from '../../support/identity/devices.ts'
import { aDoorkeeper } from '../../support/identity/pairing.ts'
import { sweepAtOnce } from '../../support/sweep.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

/** The service of all session tests, with two processes. */
export const service = await startTestService({ own: true })
export const otherProcess = await service.another()

const worker = await openWorkerRuntime(service)

/** Ends overdue records, as a worker does every two seconds. */
export const endDue = () => sweepAtOnce(worker)
/** Deletes expired rows. */
export const forget = () => deleteExpiredRows(worker.database, areas)

/** A client without a credential, as a device is at first. */
export const anyone = service.client()

export const ask = ({ deviceCode }: Pick<Device, 'deviceCode'>, client = anyone) =>
  client.sessions.token({ body: { deviceCode } })

/** An owner of a new account with a passkey in the console, and a waiting device. */
export async function aWaitingDevice(members: Parameters<typeof aDevice>[1] = {}) {
  const owner = await service.owner()
  const person = await aDoorkeeper(service, owner)
  return { owner, person, device: await aDevice(anyone, members) }
}

/** The same, approved, before the device has asked. */
export async function anApprovedDevice(members: Parameters<typeof aDevice>[1] = {}) {
  const waiting = await aWaitingDevice(members)
  const { person, device } = waiting
  const session = await bodyOf(letIn(person.console.client, person.device, device.userCode))
  return { ...waiting, session }
}

/** The same, with its key. */
export async function anActiveDevice(members: Parameters<typeof aDevice>[1] = {}) {
  const approved = await anApprovedDevice(members)
  const fetched = await bodyOf(ask(approved.device))
  return { ...approved, fetched, key: String(fetched.key), client: service.client(String(fetched.key)) }
}

/** Shifts the times of a code's request, without waiting. */
export const letPass = (seconds: number, sessionId: string) =>
  service.sql(
    `update sessions set created_at = created_at - $1 * interval '1 second',
       polled_at = polled_at - $1 * interval '1 second', ends_at = ends_at - $1 * interval '1 second'
     where id = $2`,
    [seconds, sessionId],
  )

export async function idOf(deviceName: string): Promise<string> {
  const [row] = await service.sql<{ id: string }>('select id from sessions where device_name = $1', [
    deviceName,
  ])
  return String(row?.id)
}
