import { afterEach } from '@jest/globals'
import { eventsOfCard, numbersOf } from '../../support/cards/cards.ts'
import { recordingCardProcessor } from '../../support/cards/processor.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

export const { processor, calls, answers, sandbox, restore } = recordingCardProcessor()
export const service = await startTestService({ outside: { cardProcessor: () => processor } })

afterEach(restore)

export const eventsOf = (cardId: string) => eventsOfCard(service, cardId)
export const numbers = (cardId: string) => numbersOf(service, cardId)

/** Moves the owner's clock and carries out what falls due, as the process would. */
export const pass = (client: TestClient, by: { seconds?: number; minutes?: number; days?: number }) =>
  bodyOf(client.sandbox.advance({ body: by }))

export const callLines = (): string[] => calls.map(({ call, reference }) => `${call} ${reference}`)

export const lastState = (processorCardId: string): unknown =>
  calls.findLast(call => call.call === 'setState' && call.processorCardId === processorCardId)?.told
