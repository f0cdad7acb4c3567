/** The entry of worker threads to this area: drawing documents takes long. Nothing here may lead to a database. */
export { pdfOf } from './pdf.ts'
