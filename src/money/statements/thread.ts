/** Runs in threads, which generate PDF documents. Its imports must not reach a database. */
export { pdfOf } from './pdf.ts'
export { PAGE_LEFT_PT, PAGE_RIGHT_PT, PdfDocument } from './pdf-document.ts'
