import type { ViewReply, ViewRequest } from './messages.ts'
import { viewPicture } from './picture.ts'

/** The entry point of the process that renders files, one after the other, until its parent ends. */
const reply = (told: ViewReply): void => void process.send?.(told)

process.on('message', (ask: ViewRequest) => {
  void answer(ask).then(reply, error => reply({ problem: String((error as Error).message) }))
})
process.on('disconnect', () => process.exit())

async function answer(ask: ViewRequest): Promise<ViewReply> {
  if ('plain' in ask) {
    const { plainPictures } = await import('./plain.ts')
    return { pictures: await plainPictures(ask.plain.pages) }
  }
  if (ask.kind !== 'application/pdf') return viewPicture(ask.bytes, ask.kind)
  const { viewDocument } = await import('./document.ts')
  return viewDocument(ask.bytes, facts => reply({ facts }))
}
