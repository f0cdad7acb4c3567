import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { minuteInWords } from '../../values/clock.ts'
import type { stepsApi } from './steps-api.ts'
import { subjectOf } from './subject.ts'
import { isOpen, KycSubmission } from './submission.ts'

/** How the submission stands, for the line of its run: Temporal keeps it, so it names nobody. */
const summaryOf = (submission: KycSubmission): string =>
  `Identity check of ${subjectOf(submission)} in ${submission.mode} mode: ${submission.status}`

/** Completes the sentence "The process waits …" for operators. */
function waitsFor({ status, calls, dueAt }: KycSubmission): string {
  if (!dueAt) return 'for the operator to decide'
  if (status === 'pending' && calls === 0) return 'for the provider to be given the documents'
  const what = status === 'pending' ? 'for the provider to answer' : 'for the provider to decide'
  return `${what}, which is asked at ${minuteInWords(dueAt)}`
}

export const processStatus: HandlerOf<typeof stepsApi.processStatus> = async (
  { params },
  { records, now, refuse },
) => {
  const submission = await records.findOne(KycSubmission, { id: params.id })
  if (!submission) return refuse('submission_not_found')
  const { status, dueAt } = submission
  const closed = !isOpen(submission)
  const next = status === 'pending' ? ('submit' as const) : ('inquire' as const)
  return {
    status,
    summary: summaryOf(submission),
    closed,
    dueInMs: closed || !dueAt ? null : dueAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(submission),
    signals: [],
    next: closed || !dueAt ? null : next,
  }
}
