import { describe, expect, test } from '@jest/globals'
import type { SepaFileActivities } from '../../../activities/sepa-files.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<SepaFileActivities>('sepa-file', [
  'readFile',
  'makeFile',
  'stageFile',
  'handOverFile',
  'sayReportIsLate',
  'takeReport',
])

const AN_HOUR = 3_600_000
const AT = '27 Nov 2026 14:00 UTC'
const CUT_OFF = `for payments, until its cut-off, ${AT}`
const REPORT = `for the bank’s report, which is late after ${AT}`
const LATE_REPORT = 'for the bank’s report, which is late'

const file = (status: string, dueInMs: number | null, report: string | null = null, hasNotices = false) => ({
  status,
  report,
  summary: `File in live mode: ${status}`,
  closed: dueInMs === null && report !== 'late',
  hasNotices,
  dueInMs,
  deadline: AT,
  signals: [],
})
const awaited = (dueInMs: number) => file('handed_over', dueInMs, 'awaited')
const awaitedLonger = { ...awaited(AN_HOUR), deadline: 'tomorrow' }
const late = file('handed_over', null, 'late')
const rejected = file('handed_over', 0, 'received', true)
const over = file('handed_over', null, 'received')

describe('the run of a file for the bank', () => {
  test('makes the file at its cut-off, stages it, hands it over, says that the report is late, takes it', async () => {
    const story = await play({
      readFile: [file('open', 20), rejected],
      makeFile: [file('made', 0)],
      stageFile: [file('staged', 0)],
      handOverFile: [awaited(20)],
      sayReportIsLate: [late],
      takeReport: [over],
    })
    await story.waits(LATE_REPORT)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls).toEqual([
      ...['readFile', 'makeFile', 'stageFile', 'handOverFile'],
      ...['sayReportIsLate', 'readFile', 'takeReport'],
    ])
    expect(await story.run.timerSummaries()).toEqual([CUT_OFF, REPORT, LATE_REPORT])
  })

  test('ends with a report that rejects nothing', async () => {
    const story = await play({ readFile: [awaited(AN_HOUR), over] })
    await story.waits(REPORT)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls).toEqual(['readFile', 'readFile'])
  })

  test('takes what the bank says of the payees, and waits on for the report', async () => {
    const story = await play({
      readFile: [awaited(AN_HOUR), file('handed_over', 0, 'awaited', true), over],
      takeReport: [awaitedLonger],
    })
    await story.waits(REPORT)
    await story.run.signal('recordChanged')
    await story.waits('for the bank’s report, which is late after tomorrow')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls.filter(call => call === 'takeReport')).toHaveLength(1)
  })

  test.each([
    ['without payments', { makeFile: [file('empty', null)] }, 'empty'],
    [
      'of an instant payment',
      {
        makeFile: [file('made', 0)],
        stageFile: [file('staged', 0)],
        handOverFile: [file('handed_over', null)],
      },
      'handed_over',
    ],
  ])('ends at once: a file %s', async (_, script, end) => {
    const story = await play({ readFile: [file('open', 0)], ...script })
    expect(await story.ends()).toBe(end)
    expect(story.calls).toEqual(['readFile', ...Object.keys(script)])
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test.each([
    ['made', 'stageFile'],
    ['staged', 'handOverFile'],
  ])('goes on from a file that is %s, once no other attempt is under way', async (status, activity) => {
    const story = await play({
      readFile: [file(status, 20)],
      stageFile: [file('staged', 0)],
      handOverFile: [file('handed_over', null)],
    })
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls.slice(0, 2)).toEqual(['readFile', activity])
    expect(await story.run.timerSummaries()).toEqual([
      `for the end of another attempt to hand it over, until ${AT}`,
    ])
  })

  test('waits for no cut-off that has passed, as after an outage, and repeats what fails', async () => {
    const away = new Error('the folder is away')
    const story = await play({
      readFile: [file('open', -AN_HOUR)],
      makeFile: [file('made', 0)],
      stageFile: [away, file('staged', 0)],
      handOverFile: [away, file('handed_over', null)],
    })
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls).toEqual([
      ...['readFile', 'makeFile', 'stageFile', 'stageFile', 'handOverFile', 'handOverFile'],
    ])
  })

  test('tries again after a second where a step has changed nothing', async () => {
    const story = await play({
      readFile: [file('open', 0)],
      makeFile: [file('open', 0), file('empty', null)],
    })
    expect(await story.ends()).toBe('empty')
    expect(await story.run.timerSummaries()).toEqual(['for a moment, then it tries again'])
  })

  test('has no signals: Request Cancellation changes nothing', async () => {
    const story = await play({ readFile: [awaited(AN_HOUR), over] })
    await story.waits(REPORT)
    await story.run.handle.cancel()
    await story.run.untilDetails('Request Cancellation changed nothing')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('handed_over')
  })
})
