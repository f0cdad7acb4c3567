import { afterEach } from '@jest/globals'
import { eventsOfCard, numbersOf } from '../../support/cards/cards.ts'
import { recordingCardProcessor } from '../../support/cards/processor.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

/** The service of the tests of cards, with a processor that records every call. */
export const { processor, calls, answers, sandbox, restore } = recordingCardProcessor()
export const service = await startTestService({ outside: { cardProcessor: () => processor } })

afterEach(restore)

export const eventsOf = (cardId: string) => eventsOfCard(service, cardId)
export const numbers = (cardId: string) => numbersOf(service, cardId)

/** Moves the owner's clock: what falls due on the way is done, as by the process. */
export const pass = (client: TestClient, by: { seconds?: number; minutes?: number; days?: number }) =>
  bodyOf(client.sandbox.advance({ body: by }))

/** The calls of the processor as lines: what was asked, and by which reference. */
export const callLines = (): string[] => calls.map(({ call, reference }) => `${call} ${reference}`)

/** What the processor was told last of a number. */
export const lastState = (processorCardId: string): unknown =>
  calls.findLast(call => call.call === 'setState' && call.processorCardId === processorCardId)?.told
