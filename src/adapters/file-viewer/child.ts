import type { ViewReply, ViewRequest } from './messages.ts'
import { viewPicture } from './picture.ts'

/** The entry point of the process that renders files, one after the other, until its parent ends. */
const reply = (message: ViewReply): void => void process.send?.(message)

process.on('message', (request: ViewRequest) => {
  void answer(request).then(reply, error => reply({ problem: String((error as Error).message) }))
})
process.on('disconnect', () => process.exit())

async function answer(request: ViewRequest): Promise<ViewReply> {
  if ('plain' in request) {
    const { placeholderPictures: plainPictures } = await import('./placeholder.ts')
    return { pictures: await plainPictures(request.plain.pages) }
  }
  if (request.kind !== 'application/pdf') return viewPicture(request.bytes, request.kind)
  const { viewDocument } = await import('./document.ts')
  return viewDocument(request.bytes, facts => reply({ facts }))
}
