/** Runs in threads, which generate PDF documents. Its imports must not reach a database. */
export { pdfOf } from './pdf.ts'
export { LEFT, PdfDocument, RIGHT } from './pdf-document.ts'
