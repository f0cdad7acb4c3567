import type { ViewerReply, ViewerRequest } from './messages.ts'
import { decodeImage } from './picture.ts'

/** The entry point of the process that renders files, one after the other, until its parent ends. */
const reply = (message: ViewerReply): void => void process.send?.(message)

process.on('message', (request: ViewerRequest) => {
  void answer(request).then(reply, error => reply({ problem: String((error as Error).message) }))
})
process.on('disconnect', () => process.exit())

async function answer(request: ViewerRequest): Promise<ViewerReply> {
  if ('plain' in request) {
    const { placeholderPreviews: plainPictures } = await import('./placeholder.ts')
    return { pictures: await plainPictures(request.plain.pages) }
  }
  if (request.kind !== 'application/pdf') return decodeImage(request.bytes, request.kind)
  const { renderDocument: viewDocument } = await import('./document.ts')
  return viewDocument(request.bytes, facts => reply({ facts }))
}
