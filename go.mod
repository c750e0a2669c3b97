module argosy

go 1.26.0
