import type { DurableProcess } from '../../kernel/contract/process.ts'

export const dataExportProcess = {
  name: 'gdpr-export',
  title: 'Export of personal data',
  details: `An export of a person’s data was requested. The run makes the archive ready at once, and ends after seven days, when it can be downloaded no more.

No signal changes anything here. *Request Cancellation* changes nothing.`,
  isReport: true,
} as const satisfies DurableProcess

export const dataDeletionProcess = {
  name: 'gdpr-deletion',
  title: 'Deletion of personal data',
  details: `An erasure was requested. The run waits seven days, in which the request can be taken back, and then for what must end first. It forgets what is held page by page, and ends; what the law keeps goes at its end without a run.

No signal changes anything here: \`POST /gdpr/deletions/{id}/cancel\` withdraws the request. *Request Cancellation* changes nothing.`,
} as const satisfies DurableProcess
