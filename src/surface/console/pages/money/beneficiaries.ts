import { beneficiariesApi } from '../../../../money/beneficiaries/index.ts'
import { html } from '../../../../web/html.ts'
import type { AnswerOf } from '../../page.ts'
import { section } from '../../parts/section.ts'
import { text, words } from '../../parts/text.ts'

type Verified = Pick<AnswerOf<typeof beneficiariesApi.get>, 'verification'>

const bankSays = ({ verification }: Verified) =>
  verification
    ? html`${words(verification.result)}${verification.suggestedName && html`: ${text(verification.suggestedName, 80)}`}`
    : html`<span class="none">not verified</span>`

const members = ['name', 'iban', 'bic', 'country', 'email']

export const beneficiaries = section({
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
    html`<p><a href="${to(`console/transfers?beneficiaryId=${id}`)}">Transfers to ${text(name, 60)}</a></p>`,
})
