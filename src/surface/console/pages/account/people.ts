import { peopleApi, recoveryApi } from '../../../../identity/people/index.ts'
import { html } from '../../../../web/html.ts'
import type { OperationAnswer } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { renderStatus, renderTime } from '../../parts/text.ts'
import { renderChannels } from './channels.ts'
import { devicesSection, passkeysSection, signInsSection } from './credentials.ts'

type Person = OperationAnswer<typeof peopleApi.get>

const isHere = ({ status: state }: Person): boolean => state !== 'removed'

export const peopleSection = consoleSection({
  kind: 'Person',
  title: 'People',
  lead: 'People with access to this account, and their credentials.',
  list: peopleApi.list,
  get: peopleApi.get,
  columns: [
    'role',
    {
      Status: person =>
        html`${renderStatus(person.status)}${person.recovery !== null && html` ${renderStatus('recovery')}`}`,
    },
    'email',
    'joinedAt',
  ],
  labels: { createdAt: 'Invited' },
  hidden: ['recovery'],
  events: ['person.*', 'channel.*', 'passkey.*', 'console.*', 'session.*'],
  create: {
    operation: peopleApi.create,
    submit: 'Invite person',
    values: { role: 'approver' },
    labels: { send: 'Send the link' },
    success: 'Invitation created.',
    done: 'reload',
  },
  note: ({ id, recovery }, request) =>
    recovery !== null &&
    renderBox(
      'Recovery in progress',
      html`<p>Someone reported that this person has lost their last passkey. The recovery completes ${renderTime(recovery.readyAt)}; stop it if you did not request it.</p>`,
      renderOperationForm(request, recoveryApi.stopRecovery, {
        params: { id },
        submit: 'Stop recovery',
        tone: 'against',
      }),
    ),
  actions: [
    { operation: peopleApi.update, when: isHere, members: ['name', 'email'] },
    { operation: peopleApi.update, when: isHere, members: ['role'], submit: 'Change role' },
    {
      operation: peopleApi.link,
      when: isHere,
      members: [],
      forRecord: ({ status: state }) => ({
        submit: state === 'invited' ? 'New invitation link' : 'Link for a new passkey',
      }),
    },
    {
      operation: peopleApi.link,
      when: person => isHere(person) && person.email !== null,
      members: [],
      given: { send: 'email' },
      submit: 'Send a new link by e-mail',
      variant: 'email',
      inMenu: true,
    },
    {
      operation: peopleApi.remove,
      when: isHere,
      submit: 'Remove',
      tone: 'against',
      forRecord: ({ name }) => ({
        confirm: `Remove ${name}? Their sessions, passkeys and links end at once.`,
      }),
    },
  ],
  async below({ id: personId }, request) {
    const query = { personId }
    const access = await Promise.all([
      renderChannels(personId, request),
      passkeysSection.related({ title: 'Passkeys', query, limit: 50, empty: 'No passkeys yet.' }, request),
      signInsSection.related(
        {
          title: 'Active sign-ins',
          query: { ...query, status: 'active' },
          limit: 50,
          empty: 'None that you can view.',
        },
        request,
      ),
      devicesSection.related({ title: 'Devices', query, limit: 50, empty: 'No devices yet.' }, request),
    ])
    return html`${access}`
  },
})
