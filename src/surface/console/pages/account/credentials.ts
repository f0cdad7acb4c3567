import { consoleApi } from '../../../../identity/console/index.ts'
import { passkeysApi } from '../../../../identity/passkeys/index.ts'
import { sessionsApi } from '../../../../identity/sessions/index.ts'
import { type Content, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, facts } from '../../parts/table.ts'
import { status, text, time, words } from '../../parts/text.ts'
import { history } from './shared.ts'

type Passkey = ItemOf<typeof passkeysApi.list>
type Session = ItemOf<typeof consoleApi.sessions>
type Device = ItemOf<typeof sessionsApi.list>

/** Whether what is done is the person's own, or the person is an owner: others may not. */
const isMine = (personId: string | null, { actor }: PageRequest): boolean =>
  personId === actor.id || actor.scopes.has('people:write')

const stateOf = ({ revokedAt, blockedUntil }: Passkey, now: Date): string => {
  if (revokedAt) return 'revoked'
  return blockedUntil && new Date(blockedUntil) > now ? 'blocked' : 'active'
}

function passkeyForms({ id, personId, name, revokedAt }: Passkey, request: PageRequest): Content {
  if (revokedAt || !isMine(personId, request)) return ''
  const params = { id }
  return html`${operationForm(request, passkeysApi.rename, { params, members: ['name'], values: { name }, submit: 'Rename', fold: true })}
${operationForm(request, passkeysApi.revoke, { params, submit: 'Revoke', tone: 'against', confirm: `Revoke the passkey ${name}? It opens nothing any more.` })}`
}

export const passkeyColumns: Columns<Passkey> = {
  Passkey: 'name',
  Of: 'personId',
  State: (passkey, { now }) => status(stateOf(passkey, now)),
  'Last used': 'lastUsedAt',
  Since: 'createdAt',
  Action: passkeyForms,
}

export const passkeysPage = listPage({
  title: 'Passkeys',
  lead: 'What people sign with. Another one is made by a link from the person’s page.',
  operation: passkeysApi.list,
  filters: ['status', 'personId'],
  names: ['people'],
  events: ['passkey.*'],
  empty: {
    words: 'No passkey yet: people make theirs where they join.',
    command: 'agentpay people create --name "Grace Hopper" --role approver',
  },
  columns: passkeyColumns,
})

export const sessionColumns: Columns<Session> = {
  Person: ({ personId, personName }, request) => recordLink(request, personId, text(personName)),
  State: session =>
    html`${status(session.status)} ${session.isCurrent ? 'this one' : words(session.endedBecause ?? '')}`,
  Browser: 'userAgent',
  From: 'address',
  'Last used': 'lastUsedAt',
  Ends: 'endsAt',
  Action: ({ id, status: state, personId, isCurrent }, request) =>
    state === 'active' &&
    isMine(personId, request) &&
    operationForm(request, consoleApi.endSession, {
      params: { id },
      submit: isCurrent ? 'Sign out' : 'End',
      tone: 'against',
    }),
}

export const sessionsPage = listPage({
  title: 'Sign-ins',
  lead: 'Where people are signed in to this console. One that has ended stays here for thirty days.',
  operation: consoleApi.sessions,
  filters: ['status', 'personId'],
  labels: { personId: 'Person id' },
  events: ['console.*'],
  empty: { words: 'Nobody has signed in yet.', command: 'agentpay console create-link' },
  columns: sessionColumns,
})

const isOpen = ({ status: state }: Device): boolean => state === 'active' || state === 'approved'

const revokeDevice = (device: Device, request: PageRequest): Content =>
  isOpen(device) &&
  isMine(device.personId, request) &&
  operationForm(request, sessionsApi.revoke, {
    params: { id: device.id },
    submit: 'End',
    tone: 'against',
    confirm: `End the session of ${device.deviceName}? Its key opens nothing any more.`,
  })

export const deviceColumns: Columns<Device> = {
  Device: ({ id, deviceName }, request) => recordLink(request, id, text(deviceName)),
  State: 'status',
  Kind: ({ clientType }) => words(clientType),
  'Let in by': 'personId',
  'Last used': 'lastUsedAt',
  Ends: 'endsAt',
  Action: revokeDevice,
}

export const devicesPage = listPage({
  title: 'Devices',
  lead: 'Devices that a person has let in by their code, each with a key of its own.',
  operation: sessionsApi.list,
  filters: ['status', 'personId', 'clientType'],
  labels: { clientType: 'Kind' },
  names: ['people'],
  events: ['session.*'],
  empty: { words: 'No device was let in yet.', command: 'agentpay login' },
  columns: deviceColumns,
})

export const devicePage = recordPage({
  kind: 'Device',
  operation: sessionsApi.get,
  events: ['session.*'],
  name: ({ deviceName }) => text(deviceName),
  title: ({ deviceName }) => deviceName,
  body: async (device, request) => html`<div class="actions">${revokeDevice(device, request)}</div>
${box(
  'Session',
  facts([
    ['Kind', words(device.clientType)],
    ['Let in by', recordLink(request, device.personId)],
    ['Key', recordLink(request, device.keyId)],
    ['Asked from', text(device.address)],
    ['Only this device can use its key', device.boundTo ? 'yes' : 'no'],
    ['Last used', time(device.lastUsedAt)],
    ['Decided', time(device.decidedAt)],
    ['Ends', time(device.endsAt)],
    ['May', text(device.scopes?.join(', '), 2_000)],
  ]),
)}
${await history(device.id, request)}`,
})
