import { beneficiariesApi } from '../../../../money/beneficiaries/index.ts'
import { html } from '../../../../web/html.ts'
import type { OperationAnswer } from '../../page.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderText, valueText } from '../../parts/text.ts'

type Verified = Pick<OperationAnswer<typeof beneficiariesApi.get>, 'verification'>

const bankSays = ({ verification }: Verified) =>
  verification
    ? html`${valueText(verification.result)}${verification.suggestedName && html`: ${renderText(verification.suggestedName, 80)}`}`
    : html`<span class="none">not verified</span>`

const members = ['name', 'iban', 'bic', 'country', 'email']

export const beneficiariesSection = consoleSection({
  kind: 'Beneficiary',
  title: 'Beneficiaries',
  lead: 'Payees for SEPA transfers.',
  list: beneficiariesApi.list,
  get: beneficiariesApi.get,
  columns: ['iban', 'country', 'verification', 'createdAt'],
  labels: { verification: 'Payee check', sepaName: 'Name in SEPA messages', duplicateOf: 'Same IBAN as' },
  shows: {
    iban: ({ iban }) => html`<code>${iban}</code>`,
    verification: bankSays,
  },
  empty: 'No beneficiaries yet. Add a payee to pay by SEPA.',
  create: { operation: beneficiariesApi.create, members, labels: { name: 'Account holder name' } },
  actions: [
    {
      operation: beneficiariesApi.verify,
      members: [],
      submit: 'Verify payee',
      tone: 'main',
    },
    { operation: beneficiariesApi.update, members },
    {
      operation: beneficiariesApi.delete,
      forRecord: ({ name }) => ({ confirm: `Delete ${name}? Past transfers keep the record.` }),
      done: 'go:console/beneficiaries',
    },
  ],
  below: ({ id, name }, { to }) =>
    html`<p><a href="${to(`console/transfers?beneficiaryId=${id}`)}">Transfers to ${renderText(name, 60)}</a></p>`,
})
