"""What is read: documents and their sections, readers, the label space, the thesaurus."""
