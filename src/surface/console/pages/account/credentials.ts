import { consoleApi } from '../../../../identity/console/index.ts'
import { passkeysApi } from '../../../../identity/passkeys/index.ts'
import { deviceSessionsApi } from '../../../../identity/sessions/index.ts'
import { html } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { consoleSection } from '../../parts/section.ts'
import { humanize, renderStatus } from '../../parts/text.ts'

type Passkey = ListItemOf<typeof passkeysApi.list>

const isMine = ({ personId }: { readonly personId: string | null }, { actor }: PageRequest): boolean =>
  personId === actor.id || actor.scopes.has('people:write')

const stateOf = ({ revokedAt, blockedUntil }: Passkey, now: Date): string => {
  if (revokedAt) return 'revoked'
  return blockedUntil && new Date(blockedUntil) > now ? 'blocked' : 'active'
}

const isUsable = (passkey: Passkey, request: PageRequest): boolean =>
  passkey.revokedAt === null && isMine(passkey, request)

export const passkeysSection = consoleSection({
  kind: 'Passkey',
  lead: 'People sign with passkeys. Create a link for another one on the person’s page.',
  list: passkeysApi.list,
  name: ({ name }) => name,
  columns: [
    'personId',
    { Status: (passkey, { now }) => renderStatus(stateOf(passkey, now)) },
    'lastUsedAt',
    'createdAt',
  ],
  empty: 'No passkeys yet. People create theirs when they join.',
  call: 'agentpay people create --name "Grace Hopper" --role approver',
  actions: [
    { operation: passkeysApi.rename, when: isUsable, submit: 'Rename' },
    {
      operation: passkeysApi.revoke,
      when: isUsable,
      submit: 'Revoke',
      tone: 'against',
      forRecord: ({ name }) => ({ confirm: `Revoke the passkey ${name}? It stops working at once.` }),
    },
  ],
})

export const signInsSection = consoleSection({
  kind: 'Sign-in',
  lead: 'Console sessions. Ended ones stay listed for 30 days.',
  list: consoleApi.sessions,
  columns: [
    'personId',
    {
      Status: session =>
        html`${renderStatus(session.status)} ${session.isCurrent ? 'this browser' : humanize(session.endedBecause ?? '')}`,
    },
    'userAgent',
    'address',
    'lastUsedAt',
    'endsAt',
  ],
  labels: { userAgent: 'Browser' },
  events: ['console.*'],
  empty: 'No sign-ins yet.',
  call: 'agentpay console create-link',
  actions: [
    {
      operation: consoleApi.endSession,
      when: (session, request) => session.status === 'active' && isMine(session, request),
      tone: 'against',
      forRecord: ({ isCurrent }) => ({ submit: isCurrent ? 'Sign out' : 'End session' }),
    },
  ],
})

export const devicesSection = consoleSection({
  kind: 'Device',
  lead: 'Devices connected by code, each with its own key.',
  list: deviceSessionsApi.list,
  get: deviceSessionsApi.get,
  name: ({ deviceName }) => deviceName,
  columns: ['status', 'clientType', 'personId', 'lastUsedAt', 'endsAt'],
  labels: {
    clientType: 'Type',
    personId: 'Approved by',
    address: 'Requested from',
    boundTo: 'Bound to the device',
    scopes: 'Scopes',
  },
  shows: { boundTo: ({ boundTo }) => (boundTo ? 'yes' : 'no') },
  hidden: ['deviceName'],
  empty: 'No devices yet.',
  call: 'agentpay login',
  actions: [
    {
      operation: deviceSessionsApi.revoke,
      when: (device, request) => ['active', 'approved'].includes(device.status) && isMine(device, request),
      submit: 'End session',
      tone: 'against',
      inRow: true,
      forRecord: ({ deviceName }) => ({
        confirm: `End the session of ${deviceName}? Its key stops working at once.`,
      }),
    },
  ],
})
